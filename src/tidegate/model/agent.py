"""What an agent is: it is given a session in a workspace and works until it ends."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from pathlib import Path
from typing import Any, ClassVar, NamedTuple, Protocol, TypeVar

from pydantic import Field

from tidegate.model.command import CommandResult
from tidegate.model.event import CallStatus, End, Event
from tidegate.model.value import Value

T = TypeVar("T")

Watch = Callable[[str, float], End | None]
"""Is given each line that a program prints and when it came, in seconds; an `End` stops the program at once."""


class NoAnswerError(Exception):
    """An agent has nothing to tell of this trial, so that it is not measured; the message says why and what to do."""


class ServerScript(NamedTuple):
    """The MCP server that is the target, as an agent has to start it: a program without arguments, on stdio."""

    name: str
    program: Path


class Tool(NamedTuple):
    """A tool of an MCP server as that describes it; nothing of it has been checked."""

    name: str
    description: str
    schema: Any  # of its input


class ServerTools(NamedTuple):
    """What the MCP server that is the target offers, and what it tells everyone who uses it."""

    tools: tuple[Tool, ...] = ()
    instructions: str = ""


class ToolAnswer(NamedTuple):
    """What came back from a call of a tool, as text: its answer, or why there is none."""

    status: CallStatus
    text: str


class Provider(NamedTuple):
    """Who answers for a model: the variables that tell an agent its key and the address, and what is asked there."""

    key: str
    endpoint: str
    address: str  # unless the variable says another one
    paths: tuple[str, ...]  # regular expressions of the requests to models, after the address


class Machine(Protocol):
    """Where agents will work, for what has to be checked before any trial."""

    @property
    def credentials(self) -> Mapping[str, str]:
        """Of the agent's own variables (Agent.variables) those that are set."""

    @property
    def repo(self) -> Path:
        """The checkout of one side, to look at."""

    async def output(self, command: str) -> CommandResult:
        """Run `sh -c command` with PATH, HOME and the like, in an empty folder."""


class Session(Protocol):
    """All that an agent can reach during its step. Every command runs under the trial's supervisor and limits.

    A deadline, a limit or a cancellation ends the step from outside by an exception that agents let through.
    """

    prompt: str
    scenario: str
    trial_id: str  # side/scenario/agent/index
    binary: str  # the target's name
    max_turns: int | None
    workspace: Path
    home: Path
    repo: Path  # the side's checkout
    guidance: tuple[str, ...]  # the guidance files that were copied, relative to the workspace
    prompt_file: Path  # also in TIDEGATE_PROMPT_FILE
    recorder: Path | None  # what the target's name has to lead to
    server: ServerScript | None  # where the target is an MCP server
    credentials: Mapping[str, str]  # the agent's own variables, for its own program alone; no shell of ours has them
    told: End | None  # what the agent's own log says of its end: it holds also where the step is ended from outside

    async def shell(self, command: str, *, timeout_secs: float | None = None) -> CommandResult:
        """Run `sh -c command` in the workspace, as the agent's shell tool; call and result are recorded."""

    async def program(
        self,
        command: str,
        *,
        stdin: Path | None = None,
        env: Mapping[str, str] | None = None,
        watch: Watch | None = None,
        silent: bool = False,
    ) -> CommandResult:
        """Run the agent's own program by `sh -c command`; its raw output is kept, no event is recorded.

        With `watch` it is read as it comes, and a program that prints nothing for minutes is stopped, unless it may be
        `silent`.
        """

    async def server_tools(self) -> ServerTools:
        """Start the MCP server that is the target, if it is one, for `call_tool`; asked once.

        A server that does not answer ends the step: nothing is measured.
        """

    async def call_tool(self, tool: str, given: Mapping[str, Any], *, timeout_secs: float) -> ToolAnswer:
        """Call a tool of that server; call and result are recorded. A server that is gone is an answer as well."""

    async def in_time(self, waiting: Awaitable[T]) -> T:
        """Wait for something else than a command, no longer than the step may take."""

    def cost(self, used: End) -> float | None:
        """USD of the tokens, by the suite's prices of the agent's model; None where it has none."""

    def emit(self, event: Event) -> None:
        """Append one event to the record, at once; `at` is filled in when it is 0."""

    def step(self, text: str) -> None:
        """Show what the agent is doing right now."""

    def read_text(self, path: str) -> str | None:
        """A text file of the workspace; None if there is none, or if it is a link that leads out of the workspace."""

    def definition_text(self, path: str) -> str | None:
        """A text file of the checkout that scenarios are read at; None like read_text."""

    def home_file(self, name: str, text: str) -> Path:
        """Write the file `name` below HOME, for the agent's program, which may change it; returns its path."""

    def side_file(self, path: Path) -> str:
        """The text of a file that the agent's program left below its home, kept in the record; '' if there is none."""


class Agent(Value):
    """Who does the task; the base of the family in `tidegate.agents`.

    Success of an agent is what its `End` says, never an exit status alone.
    """

    type: str
    model: str | None = None
    env: dict[str, str] = {}
    timeout_secs: float | None = Field(default=None, gt=0)
    max_turns: int | None = Field(default=None, gt=0)
    deterministic: bool | None = None
    weight: float = Field(default=1.0, gt=0)  # of a slot

    calls_servers: ClassVar[bool] = False  # it can call the tools of an MCP server

    @property
    def is_deterministic(self) -> bool:
        """The same scenario gives the same outcome every time (config.md, Deterministic)."""
        return bool(self.deterministic)

    @property
    def provider(self) -> Provider | None:
        """Of the model, if the agent's program can be pointed at the relay instead."""
        return None

    @property
    def variables(self) -> tuple[str, ...]:
        """The variables of Tidegate's environment that are this agent's own: its key, and where its model is."""
        return ()

    async def check(self, machine: Machine) -> str | None:
        """Before any trial: CannotRunError if something is missing, else the version of the agent's program, if any."""
        return None

    async def run(self, session: Session) -> End:
        """Do the session's prompt, emit what happens, and say how it ended."""
        raise NotImplementedError
