"""The tool under test: a program or an MCP server."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Annotated
from urllib.parse import urlsplit

from pydantic import AfterValidator

from tidegate.model.field_types import ExitStatuses, ServerName, Text, wrong
from tidegate.model.value import Value

REFERENCE = re.compile(r"\$\{([^}]*)\}")  # to a variable, in the values of `target.env`
PREFIXES = ("LLM_TOOL_TEST", "TIDEGATE")
_OF_A_TRIAL = ("FIXTURE_DIR", "RESULTS_DIR", "SCENARIO", "AGENT", "MODEL", "TRANSCRIPT", "EVENTS")
TRIAL_VARIABLES = frozenset(f"{prefix}_{name}" for prefix in PREFIXES for name in _OF_A_TRIAL)
"""Variables that each trial has of its own, such as LLM_TOOL_TEST_FIXTURE_DIR."""


def _local(url: str) -> str:
    """Return the URL of a server that the trial itself starts."""
    if not re.match(r"http://(127\.0\.0\.1|localhost):(\{port\}|\d+)(/|\Z)", url):
        raise wrong("must be `http://127.0.0.1:{port}/…`: a trial starts the server and gives it a free port")
    return url


class McpServer(Value):
    """An MCP (Model Context Protocol) server, started by `sh -c command` in the workspace.

    It speaks on stdio, or at `url`: streamable HTTP, or SSE if the path ends with `/sse`.
    """

    command: Text
    url: Annotated[str, AfterValidator(_local)] = ""
    name: ServerName = "target"  # its name for agents and in reports

    @property
    def is_sse(self) -> bool:
        """True if its URL is that of the older way over HTTP."""
        return urlsplit(self.url).path.rstrip("/").endswith("/sse")


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
    tty: bool = False  # its calls run on a pseudo-terminal

    @property
    def is_named(self) -> bool:
        """Return True for a program that is called by its name, and so found on PATH."""
        return bool(self.binary) and "/" not in self.binary and self.mcp is None

    def environment(self, values: Mapping[str, str]) -> dict[str, str]:
        """Return `env` with the values of the variables that it refers to."""
        return {name: REFERENCE.sub(lambda found: values.get(found[1], ""), text) for name, text in self.env.items()}

    @property
    def references(self) -> frozenset[str]:
        """Return the names of the variables that `env` refers to, without those that each trial has of its own."""
        return frozenset(name for text in self.env.values() for name in REFERENCE.findall(text)) - TRIAL_VARIABLES
