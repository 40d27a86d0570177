"""The tool under test: a program or an MCP server."""

import re
from collections.abc import Mapping
from typing import Annotated, Self
from urllib.parse import urlsplit

from pydantic import AfterValidator, model_validator

from tidegate.model.field_types import ExitStatuses, ServerName, Text, matching, passable, wrong
from tidegate.model.value import Value

REFERENCE = re.compile(r"\$\{([^}]*)\}")  # to a variable, in the values of `target.env` and of headers
PREFIXES = ("LLM_TOOL_TEST", "TIDEGATE")
_OF_A_TRIAL = ("FIXTURE_DIR", "RESULTS_DIR", "SCENARIO", "AGENT", "MODEL", "TRANSCRIPT", "EVENTS")
TRIAL_VARIABLES = frozenset(f"{prefix}_{name}" for prefix in PREFIXES for name in _OF_A_TRIAL)
"""Variables that each trial has of its own, such as LLM_TOOL_TEST_FIXTURE_DIR."""


_LOCAL = re.compile(r"http://(127\.0\.0\.1|localhost):(\{port\}|\d+)(/|\Z)")


def with_values(text: str, values: Mapping[str, str]) -> str:
    """Return the text with the values of the variables that it refers to."""
    return REFERENCE.sub(lambda found: values.get(found[1], ""), text)


def _references_passable(text: str) -> str:
    for name in REFERENCE.findall(text):
        passable(name)
    return text


Secret = Annotated[Text, AfterValidator(_references_passable)]
HeaderName = Annotated[str, matching(r"[A-Za-z0-9-]+", "must be a header's name: letters, digits, -")]
Url = Annotated[str, matching(r"https?://[^\s/]+(/\S*)?", "must be a URL: `https://HOST/PATH`")]


class ClientCredentials(Value):
    """How Tidegate gets an OAuth token for a server that asks for one: as a client that `issuer` knows."""

    issuer: Url  # the authorization server; no other one gets the secret
    client_id: Secret
    client_secret: Secret
    scope: Text | None = None

    def with_secrets(self, values: Mapping[str, str]) -> "ClientCredentials":
        """Return them with the values of the variables that they refer to."""
        own = {"client_id": self.client_id, "client_secret": self.client_secret}
        return self.model_copy(update={name: with_values(text, values) for name, text in own.items()})


class McpServer(Value):
    """An MCP (Model Context Protocol) server, started by `sh -c command` in the workspace.

    It speaks on stdio, or at `url`: streamable HTTP, or SSE if the path ends with `/sse`. Without `command`, the server
    at `url` already runs elsewhere. `headers` and the token of `oauth` are added to each request; their values refer to
    variables as `${NAME}`, and agents do not see them.
    """

    command: Text = ""
    url: Url = ""
    name: ServerName = "target"  # its name for agents and in reports
    headers: dict[HeaderName, Secret] = {}
    oauth: ClientCredentials | None = None

    @model_validator(mode="after")
    def _can_be_reached(self) -> Self:
        if not (self.command or self.url):
            raise wrong("needs `command`, or the `url` of a server that already runs")
        if self.command and self.url and not _LOCAL.match(self.url):
            raise wrong("with `command`, `url` must be `http://127.0.0.1:{port}/…`: each trial has a port of its own")
        if not self.url and (self.headers or self.oauth):
            raise wrong("`headers` and `oauth` need a `url`")
        return self

    @property
    def start(self) -> str:
        """How messages name it: by its command, else by its URL."""
        return self.command or self.url

    @property
    def references(self) -> frozenset[str]:
        """Return the names of the variables that the headers and the credentials refer to."""
        texts = (*self.headers.values(), *((self.oauth.client_id, self.oauth.client_secret) if self.oauth else ()))
        return frozenset(name for text in texts for name in REFERENCE.findall(text))

    def with_secrets(self, values: Mapping[str, str]) -> "McpServer":
        """Return the server with the values of those variables."""
        headers = {name: with_values(text, values) for name, text in self.headers.items()}
        oauth = self.oauth and self.oauth.with_secrets(values)
        return self.model_copy(update={"headers": headers, "oauth": oauth})

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

    @property
    def is_named(self) -> bool:
        """Return True for a program that is called by its name, and so found on PATH."""
        return bool(self.program) and self.mcp is None

    @property
    def program(self) -> str:
        """The program that is found on PATH: the tool, or what starts the MCP server; '' if a path names it."""
        words = self.mcp.command.split() if self.mcp else []
        started = next((word for word in words if word != "env" and "=" not in word), "")
        name = started if self.mcp else self.binary
        return "" if "/" in name else name

    def environment(self, values: Mapping[str, str]) -> dict[str, str]:
        """Return `env` with the values of the variables that it refers to."""
        return {name: with_values(text, values) for name, text in self.env.items()}

    @property
    def references(self) -> frozenset[str]:
        """Return the names of the variables that it refers to, without those that each trial has of its own."""
        of_env = frozenset(name for text in self.env.values() for name in REFERENCE.findall(text)) - TRIAL_VARIABLES
        return of_env | (self.mcp.references if self.mcp else frozenset())


def is_of_target(binary: str, name: str) -> bool:
    """Return True if the name is that of the tool under test, or of one of its subcommands."""
    return bool(binary) and name.partition(":")[0] == binary.rpartition("/")[2]
