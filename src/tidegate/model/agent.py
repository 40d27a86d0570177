"""The agent interface: an agent gets a session in a workspace and works until it ends."""

import json
import re
from collections.abc import Awaitable, Callable, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any, ClassVar, Literal, NamedTuple, Protocol, Self, TypeVar

from pydantic import Field, model_validator

from tidegate.model.event import CallStatus, CommandResult, End, Event
from tidegate.model.probe import ServerPart
from tidegate.model.provider import ModelApi, ModelProvider
from tidegate.model.value import Value

LIST = "tools/list"  # how the record names the step `list_tools`


def _check_references(value: object) -> None:
    """Raise ValueError if the value has a reference to an answer that is not valid."""
    inner = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    if taken_from(value) is None:
        for one in inner:
            _check_references(one)


class FromAnswer(Value):
    """What a step takes from an earlier answer: the first group of `match` in the last one of a tool that has it.

    `back`: how many answers that have it before the last one.
    """

    answer_of: str
    match: str
    back: int = Field(default=0, ge=0)

    @model_validator(mode="after")
    def _has_group(self) -> Self:
        try:
            groups = re.compile(self.match).groups
        except re.error as error:
            raise ValueError(f"`match` is not a pattern: {error}") from None
        if groups == 0:
            raise ValueError("`match` needs a group: parentheses around what is taken")
        return self


def taken_from(value: object) -> FromAnswer | None:
    """Return what the value of a step's input refers to, if it is `{answer_of: TOOL, match: PATTERN}`."""
    is_one = isinstance(value, dict) and {"answer_of", "match"} <= value.keys() <= {"answer_of", "match", "back"}
    return FromAnswer.model_validate(value) if is_one else None


class ScriptedStep(Value):
    """One step, which is taken with the given probability: a command, a use of the MCP server, or its list of tools."""

    run: str | None = None
    call: str | None = None
    read: str | None = None
    prompt: str | None = None
    input: dict[str, Any] = {}
    list_tools: bool = False
    probability: float = Field(default=1.0, ge=0, le=1)

    @model_validator(mode="after")
    def _is_one(self) -> Self:
        one_of = (self.run, self.call, self.read, self.prompt)
        if sum(one is not None for one in one_of) + self.list_tools != 1:
            raise ValueError("a step is one of `run`, `call`, `read`, `prompt` and `list_tools`")
        if self.input and self.call is None and self.prompt is None:
            raise ValueError("`input` belongs to `call` or `prompt`")
        _check_references(self.input)
        return self

    @property
    def asks(self) -> tuple[ServerPart, str] | None:
        """What it asks the server for: a call of a tool, a resource or a prompt, and its name; None if for neither."""
        uses: tuple[tuple[ServerPart, str | None], ...]
        uses = (("tool", self.call), ("resource", self.read), ("prompt", self.prompt))
        return next(((what, name) for what, name in uses if name is not None), None)

    def __str__(self) -> str:
        """Return what the step does, in one line."""
        if self.asks is None:
            return LIST if self.run is None else self.run
        name = self.asks[1]
        return f"{name} {json.dumps(self.input)}" if self.input else name


T = TypeVar("T")

SHOWN = 4000  # characters of a command's output in an event
ALONE = 1000.0  # a weight above the number of parallel jobs, so that no other trial runs at the same time

Watch = Callable[[str, float], End | None]
"""Receives each line that a program prints and its time in seconds. Returning an `End` stops the program at once."""


class NoAnswerError(Exception):
    """Raised when an agent has no answer for this trial, so it is not measured. The message says why and what to do."""


class ServerScript(NamedTuple):
    """The MCP server under test, as an agent reaches it: a program without arguments that speaks on stdio, or a URL."""

    name: str
    program: Path
    url: str = ""
    is_sse: bool = False


class Tool(NamedTuple):
    """A tool as its MCP server describes it. Nothing is validated."""

    name: str
    description: str
    schema: Any  # JSON Schema of the input, as the server sent it
    hints: Mapping[str, Any] = MappingProxyType({})  # `annotations`: whether it only reads, destroys, …


class ServerTools(NamedTuple):
    """The tools and the usage instructions of the MCP server under test."""

    tools: tuple[Tool, ...] = ()
    instructions: str = ""


class ToolAnswer(NamedTuple):
    """The text that a tool call returned, or the reason why it returned none."""

    status: CallStatus
    text: str


class Machine(Protocol):
    """The environment that agents will work in, for checks before the first trial."""

    @property
    def credentials(self) -> Mapping[str, str]:
        """The agent's own variables (`Agent.variables`) that are set."""

    @property
    def repo(self) -> Path:
        """The checkout of one side. Read only."""

    def program_words(self, name: str) -> tuple[str, ...] | None:
        """Return the words that start an agent's program; None if the system has none by that name."""

    async def output(self, command: str) -> CommandResult:
        """Run `sh -c command` in an empty folder, with PATH, HOME and similar variables set."""


class Session(Protocol):
    """Everything that an agent can reach during its step. Commands run under the trial's supervisor and limits.

    A deadline, a limit or a cancellation ends the step by raising an exception, which agents must not catch.
    """

    prompt: str
    scenario: str
    trial_id: str  # side/scenario/agent/index
    binary: str  # the program under test
    max_turns: int | None
    workspace: Path
    home: Path
    repo: Path  # the side's checkout
    guidance: tuple[str, ...]  # copied guidance files, relative to the workspace
    prompt_file: Path  # also in TIDEGATE_PROMPT_FILE
    recorder: Path | None  # the recorder that the tool's name must resolve to
    server: ServerScript | None  # set if the tool under test is an MCP server
    credentials: Mapping[str, str]  # for the agent's own program only; `shell` commands do not see them
    told: End | None  # the end so far by the agent's own log; kept if the step is stopped from outside

    def program_words(self, name: str) -> tuple[str, ...] | None:
        """Return the words that start an agent's program: the system's, never one of the pull request's."""

    async def shell(self, command: str, *, timeout_secs: float | None = None, shown: int = SHOWN) -> CommandResult:
        """Run `sh -c command` in the workspace, as the agent's shell tool. The call and its result are recorded.

        So many characters of its output are recorded; a file holds all of it.
        """

    async def program(
        self,
        command: str,
        *,
        stdin: Path | None = None,
        env: Mapping[str, str] | None = None,
        watch: Watch | None = None,
        silent: bool = False,
    ) -> CommandResult:
        """Run the agent's own program by `sh -c command`. Its raw output is kept; no event is recorded.

        `watch` receives each line as it is printed. A program that prints nothing for minutes is stopped, unless
        `silent` is set.
        """

    async def server_tools(self) -> ServerTools:
        """Start the MCP server under test, if there is one, and return what it offers. Later calls return the same
        value.

        A server that does not answer ends the step, and the trial is not measured.
        """

    async def ask_server(
        self, what: ServerPart, name: str, given: Mapping[str, Any], *, timeout_secs: float, shown: int = SHOWN
    ) -> ToolAnswer:
        """Call a tool of that server, read a resource or get a prompt. The call and its result are recorded. A server
        that is gone gives an error answer.
        """

    async def in_time(self, waiting: Awaitable[T]) -> T:
        """Wait for something other than a command, within the step's time limit."""

    def cost(self, used: End) -> float | None:
        """Return the cost of the tokens in USD, by the suite's prices; None if the agent's model has no price."""

    def emit(self, event: Event) -> None:
        """Append one event to the record at once. `at` is filled in if it is 0."""

    def step(self, text: str) -> None:
        """Show what the agent is doing right now."""

    def read_text(self, path: str) -> str | None:
        """Return a text file of the workspace; None if it does not exist or is a link that leaves the workspace."""

    def document(self, path: str) -> str | None:
        """Return a text file of the workspace as it was before any call of the tool, or None."""

    def write_text(self, path: str, text: str) -> None:
        """Write a text file of the workspace, replacing what is there; a link in its place is not followed."""

    def home_file(self, name: str, text: str) -> Path:
        """Write the file `name` below HOME for the agent's program, which may change it, and return its path."""

    def side_file(self, path: Path) -> str:
        """Return the text of a file that the agent's program left below its home, and keep it in the record; '' if
        missing.
        """


FREE = frozenset({"doc-follower", "scripted"})  # types of agents that ask no model and cost nothing


class Agent(Value):
    """Base class of all agents: an agent does the task of a scenario.

    An agent succeeded only if its `End` event reports it; an exit status alone is not enough.
    """

    type: str
    model: str | None = None
    env: dict[str, str] = {}
    timeout_secs: float | None = Field(default=None, gt=0)
    max_turns: int | None = Field(default=None, gt=0)
    deterministic: bool | None = None
    weight: float = Field(default=1.0, gt=0)  # share of a parallel job that one trial takes

    limits_turns: ClassVar[bool] = True  # False: it has no limit of turns, so that the model proxy enforces it
    calls_servers: ClassVar[bool] = False  # whether it can call tools of an MCP server
    starts_server: ClassVar[bool] = False  # its program starts the MCP server, and may not wait for it
    shell: ClassVar[Literal["sh", "bash"]] = "sh"  # runs its commands
    keeps_folder: ClassVar[bool] = False  # True: a `cd` holds for its later commands
    asks_model_itself: ClassVar[bool] = False  # in Tidegate's own process, where no trial can forge the answers

    @property
    def is_deterministic(self) -> bool:
        """True if the same scenario gives the same outcome every time."""
        return bool(self.deterministic)

    @property
    def api(self) -> ModelApi | None:
        """The API of its models, if its requests can be sent to the model proxy; else None."""
        return None

    @property
    def chosen_provider(self) -> ModelProvider | None:
        """The provider that the suite names; None for the API's own, with a key."""
        return getattr(self, "provider", None)

    def may_ask(self, model: str) -> bool:
        """Return True if its program may ask this model; the model proxy refuses requests to others."""
        return True

    def lacks(self, environ: Mapping[str, str]) -> str | None:
        """Return what it lacks to reach its model, such as `a key in X`; None if nothing is known to be missing."""
        if self.chosen_provider is not None:
            return self.chosen_provider.missing(environ)
        key, *_ = self.variables or ("",)  # the first variable is the key; the others hold addresses
        return f"a key in {key}" if key and not (environ.get(key) or self.env.get(key)) else None

    @property
    def needed_program(self) -> str:
        """The program that has to be on PATH; '' if it needs none."""
        return ""

    @property
    def priced_model(self) -> str | None:
        """The model that needs a price, since the agent limits its own cost; None if it does not."""
        return None

    @property
    def named_scenarios(self) -> tuple[str, ...]:
        """The scenarios that its settings name."""
        return ()

    @property
    def reports_calls(self) -> bool:
        """True if its output names the calls of its own tools."""
        return True

    @property
    def variables(self) -> tuple[str, ...]:
        """Environment variables that belong to this agent: its API key, first, and the address of its model."""
        return ()

    def with_steps(self, scenario: str, steps: tuple[str | ScriptedStep, ...]) -> "Agent":
        """Return the agent for the scenario, whose file has these steps; only `scripted` uses them."""
        return self

    def with_seed(self, seed: int) -> "Agent":
        """Return the agent with this seed, if it chooses by chance and has none of its own."""
        return self

    async def check(self, machine: Machine) -> str | None:
        """Check the agent before any trial and return its program's version, if any.

        Raises CannotRunError if something is missing.
        """
        return None

    async def run(self, session: Session) -> End:
        """Do the session's prompt, emit what happens, and return how it ended."""
        raise NotImplementedError
