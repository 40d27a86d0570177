"""The surface of a tool: what people and agents can use of it; what a branch changes in it; and its recorded calls."""

from typing import Literal

from tidegate.model.value import Value

_OfCalls = Literal["subcommand", "option", "argument", "json_key", "exit_code", "file", "tool", "parameter"]
_OfServer = Literal[
    "field", "output", "resource", "template", "prompt", "prompt_argument", "instructions", "capability"
]
PartKind = _OfCalls | _OfServer
Impact = Literal["breaking", "additive", "text"]
BYTES_PER_TOKEN = 4.4  # of a list of tools as JSON; its error is in benchmarks/README.md


class Part(Value):
    """One part of a tool's surface. `command` is the subcommand that it belongs to, or the tool of an MCP server.

    A `field` is inside a parameter, an `output` inside a tool's structured result; '' is the result itself.

    `aliases` are other names of an option; `takes_value` and `choices` say what follows it. `required`: of a parameter.
    `default`: its value where none is given, if known. Choices and default of a parameter are JSON; choices of a
    server's tool are the ways to call it. `types`: of JSON, or a resource's MIME type; none: any. `limits`: further
    rules of a value; of a tool, its hints. `text`: its description. `characters`: how much agents are given of a tool,
    in bytes of UTF-8, as rare characters take many tokens.
    """

    kind: PartKind
    name: str
    command: str = ""
    aliases: tuple[str, ...] = ()
    takes_value: bool = False
    choices: tuple[str, ...] = ()
    default: str = ""
    required: bool = False
    types: tuple[str, ...] = ()
    limits: dict[str, str] = {}
    text: str = ""
    characters: int = 0

    @property
    def id(self) -> tuple[PartKind, str, str]:
        """What tells the part from others."""
        return self.kind, self.command, self.name

    def __str__(self) -> str:
        """Return the part as reports name it: `--due` of `add`."""
        names = {
            "exit_code": f"exit code {self.name}",
            "json_key": f"key `{self.name}`",
            "output": f"`{self.name}` in the result" if self.name else "the structured result",
            "instructions": "the instructions of the server",
        }
        kind = f"{self.kind} " if self.kind in ("resource", "template", "prompt", "capability") else ""
        name = names.get(self.kind, f"{kind}`{self.name}`")
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


class InterfaceChange(Value):
    """A difference between what base and head offer. `scenarios`: those known to use the tool.

    `text` is what only a model would feel. `docs`: the places that still name a part that is gone.
    """

    impact: Impact
    part: str
    detail: str
    scenarios: tuple[str, ...] = ()
    docs: tuple[str, ...] = ()


class Interface(Value):
    """What a tool under test offers on base and head, compared. `why`: why it was not, '' if it was.

    `tokens`: of each tool in the list that agents are given, estimated for base and head; None where it is missing.
    `by_head`: head may be the reason for `why`. `limit`: the policy's, in words, if the tokens exceed it. `blocks`: the
    policy blocks what was found, or that nothing could be.
    """

    tool: str
    changes: tuple[InterfaceChange, ...] = ()
    gone: tuple[Part, ...] = ()  # what head lacks; of an option with other names, only those
    tokens: dict[str, tuple[int | None, int | None]] = {}
    why: str = ""
    by_head: bool = False
    limit: str = ""
    blocks: bool = False

    @property
    def breaking(self) -> tuple[InterfaceChange, ...]:
        """The changes that break callers."""
        return tuple(one for one in self.changes if one.impact == "breaking")

    @property
    def total(self) -> tuple[int, int]:
        """The tokens of all tools, on base and on head."""
        return sum(base or 0 for base, _ in self.tokens.values()), sum(head or 0 for _, head in self.tokens.values())

    @property
    def grew(self) -> bool:
        """True if the list of tools takes more than a tenth more tokens than on base."""
        base, head = self.total
        return base > 0 and head > 1.1 * base
