"""The tool under test: a program or an MCP server."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Annotated

from tidegate.model.field_types import ExitStatuses, ServerName, Text, matching
from tidegate.model.value import Value

REFERENCE = re.compile(r"\$\{([^}]*)\}")  # to a variable, in the values of `target.env`
PREFIXES = ("LLM_TOOL_TEST", "TIDEGATE")
_OF_A_TRIAL = ("FIXTURE_DIR", "RESULTS_DIR", "SCENARIO", "AGENT", "MODEL", "TRANSCRIPT", "EVENTS")
TRIAL_VARIABLES = frozenset(f"{prefix}_{name}" for prefix in PREFIXES for name in _OF_A_TRIAL)
"""Variables that each trial has of its own, such as LLM_TOOL_TEST_FIXTURE_DIR."""


LocalUrl = Annotated[
    str,
    matching(
        r"http://(127\.0\.0\.1|localhost):(\{port\}|\d+)(/\S*)?",
        "must be `http://127.0.0.1:{port}/…`: each trial has a port of its own",
    ),
]


def with_values(text: str, values: Mapping[str, str]) -> str:
    """Return the text with the values of the variables that it refers to."""
    return REFERENCE.sub(lambda found: values.get(found[1], ""), text)


class McpServer(Value):
    """An MCP (Model Context Protocol) server, started by `sh -c command` in the workspace.

    It speaks on stdio, or streamable HTTP at `url`.
    """

    command: Text
    url: LocalUrl = ""
    name: ServerName = "target"  # its name for agents and in reports


class Target(Value):
    """The tool under test. `binary` is its program, or the name of an MCP server.

    An AgentV eval case may have no tool; then `binary` is empty. `env` refers to variables as `${NAME}`: their values
    are part of no definition.
    """

    binary: str
    command_pattern: str | None = None
    health_check: str | None = None
    env: dict[str, str] = {}
    secrets: tuple[str, ...] = ()  # variables that `env` refers to; jobs of forks do not have them
    mcp: McpServer | None = None
    ok_statuses: ExitStatuses = (0,)  # exit codes with which a call has not failed

    @property
    def is_named(self) -> bool:
        """Return True for a program that is called by its name, and so found on PATH."""
        return bool(self.binary) and "/" not in self.binary and self.mcp is None

    def environment(self, values: Mapping[str, str]) -> dict[str, str]:
        """Return `env` with the values of the variables that it refers to."""
        return {name: with_values(text, values) for name, text in self.env.items()}

    @property
    def references(self) -> frozenset[str]:
        """Return the names of the variables that it refers to, without those that each trial has of its own."""
        return frozenset(name for text in self.env.values() for name in REFERENCE.findall(text)) - TRIAL_VARIABLES


def is_of_target(binary: str, name: str) -> bool:
    """Return True if the name is that of the tool under test, or of one of its subcommands."""
    return bool(binary) and name.partition(":")[0] == binary.rpartition("/")[2]
