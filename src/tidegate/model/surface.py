"""The surface of a tool: what people and agents can use of it; and its recorded calls."""

from __future__ import annotations

from typing import Literal

from tidegate.model.value import Value

PartKind = Literal["subcommand", "option", "argument", "json_key", "exit_code", "file", "tool", "parameter"]


class Part(Value):
    """One part of a tool's surface. `command` is the subcommand that it belongs to, or the tool of an MCP server.

    `aliases` are other names of an option; `takes_value` and `choices` say what follows it. `required`: of a parameter.
    `default`: its value where none is given, if known. Choices and default of a parameter are JSON.
    """

    kind: PartKind
    name: str
    command: str = ""
    aliases: tuple[str, ...] = ()
    takes_value: bool = False
    choices: tuple[str, ...] = ()
    default: str = ""
    required: bool = False

    @property
    def id(self) -> tuple[PartKind, str, str]:
        """What tells the part from others."""
        return self.kind, self.command, self.name

    def __str__(self) -> str:
        """Return the part as reports name it: `--due` of `add`."""
        names = {"exit_code": f"exit code {self.name}", "json_key": f"key `{self.name}`"}
        name = names.get(self.kind, f"`{self.name}`")
        return f"{name} of `{self.command}`" if self.command else name


class ObservedCall(Value):
    """One call of the tool under test, with all that it printed and the files that it wrote.

    Of an MCP server: the tool and its input as JSON are the arguments, and the result as JSON is the output.
    """

    argv: tuple[str, ...]
    exit_code: int
    stdout: str = ""
    stderr: str = ""
    written: tuple[str, ...] = ()
    wrote: tuple[str, ...] = ()  # hashes of these files, see mutant_wrapper.digests
    at: float = 0.0  # seconds since the epoch
    seconds: float = 0.0
    home: str = ""  # HOME of the call, which tells the trial
    was: tuple[int, str, str] | None = None  # exit code, stdout and stderr before the mutant changed them
