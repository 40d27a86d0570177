"""The base class of agents that are external programs: check, start, read the output, and find how they ended."""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import ClassVar, Literal

from pydantic import Field, ValidationInfo, field_validator

from tidegate.agents.providers import AnyProvider, types_with
from tidegate.agents.streams.json_lines import JsonLines
from tidegate.errors import CannotRunError, MissingKeyError
from tidegate.model.agent import Agent, Machine, ServerScript, Session
from tidegate.model.event import CommandResult, End, Event, ToolCall, ToolResult
from tidegate.model.field_types import wrong
from tidegate.model.provider import ModelApi, ModelProvider
from tidegate.text.shorten import error_line


def own_end(told: End | None, result: CommandResult) -> End:
    """Return the end that the program reports. It counts as completed only if the exit status is 0 too."""
    if told is None:
        return End(end="crashed", message=f"ended without an end event, {how(result)}", status=result.shell_status)
    if told.end == "completed" and not result.ok:
        said = f"said completed, but {how(result)}"
        return told.model_copy(update={"end": "crashed", "message": said, "status": result.shell_status})
    return told


def how(result: CommandResult) -> str:
    """Return how the program ended, with the line on stderr that names the error."""
    return ": ".join(filter(None, (result.how_it_ended(), error_line(result.stderr))))


def servers_file(server: ServerScript) -> str:
    """Return the common client configuration: `{mcpServers: {NAME: {command, args}}}`, or `{type, url}` of a server."""
    way = {"type": "sse" if server.is_sse else "http", "url": server.url}
    started = {"command": str(server.program), "args": []}
    return json.dumps({"mcpServers": {server.name: way if server.url else started}})


_VERSION = re.compile(r"\d+\.\d+\.\d+")
_NOT_FOUND = (126, 127)
PASSED_BY = 96  # exit status of the preflight check


class RecorderBypassedError(Exception):
    """In the agent's shell the target's name does not lead to the recorder: its calls would not be seen."""


@dataclass(frozen=True)
class AgentLaunch:
    """How to start the agent's program. Its configuration files are already written."""

    argv: tuple[str, ...]
    env: Mapping[str, str]
    stdin: Path | None = None


@dataclass
class _Output:
    """The program's output so far, read as it arrives to show progress and to stop hopeless runs early."""

    session: Session
    live: JsonLines
    lines: list[tuple[str, float]] = field(default_factory=list)

    def watch(self, line: str, at: float) -> End | None:
        """Keep the line, show what the agent does, and end a run whose API key is refused."""
        self.lines.append((line, at))
        events = list(self.live.read(line))
        self.session.told = self.live.so_far()
        for event in events:
            if isinstance(event, ToolCall):
                self.session.step(event.command or event.tool)
        return self.live.refused()


class CodingAgent(Agent):
    """A program on PATH that does the task by itself and prints its actions as JSON lines.

    `version` pins the program's exact version. `args` are added to the arguments that Tidegate passes. `provider` is
    where its models are.
    """

    args: tuple[str, ...] = ()
    version: str | None = None
    provider: AnyProvider | None = Field(default=None, validate_default=True)

    calls_servers: ClassVar[bool] = True
    starts_server: ClassVar[bool] = True
    shell: ClassVar[Literal["sh", "bash"]] = "bash"
    helpers: ClassVar[str] = ""  # regular expression of the small models that it asks besides
    program: ClassVar[str]
    package: ClassVar[str]  # npm package
    image_package: ClassVar[str]  # the one that the image with agents has: the native one, if there is one
    oldest: ClassVar[tuple[int, int, int]]  # oldest supported version
    tested: ClassVar[str]  # version used in the project's tests
    own_apis: ClassVar[tuple[ModelApi, ...]]  # that it can use; see `apis`

    def may_ask(self, model: str) -> bool:
        """Return True for the agent's model, also with a date, and for the small ones that the program asks besides.

        Without a model, or with a name such as `opus`, the program chooses.
        """
        own = re.sub(r"\[\w+\]$", "", self.model or "").rpartition("/")[2]
        is_own = re.fullmatch(rf"{re.escape(own)}([-@]\d{{8}})?", model.rpartition("/")[2]) is not None
        return is_own or not re.search(r"\d", own) or re.fullmatch(self.helpers, model) is not None

    @classmethod
    def apis(cls, model: str | None) -> tuple[ModelApi, ...]:
        """Return the APIs that it can use for the model; first the one that it uses without `provider`."""
        return cls.own_apis

    @field_validator("provider", mode="after")
    @classmethod
    def _can_use(cls, provider: ModelProvider | None, info: ValidationInfo) -> ModelProvider | None:
        if (problem := cls._problem(provider, info.data.get("model"))) is not None:
            raise wrong(problem)
        return provider

    @classmethod
    def _problem(cls, provider: ModelProvider | None, model: str | None) -> str | None:
        """Return what is wrong with using the model at the provider; None if it can be used there."""
        apis = cls.apis(model)
        if provider is None:
            return None if apis[0].address else f"is required for this model: {{type: {types_with(apis)}, …}}"
        fits = provider.api_of(apis)
        return None if fits else f"must be of type {types_with(apis)} for this agent and model, not {provider.type}"

    @property
    def needed_program(self) -> str:
        """Its program."""
        return self.program

    @property
    def api(self) -> ModelApi:
        """The API of its models."""
        apis = self.apis(self.model)
        return (self.provider and self.provider.api_of(apis)) or apis[0]

    @property
    def variables(self) -> tuple[str, ...]:
        """The API key and the address of the model, of each API that it could use."""
        own = self.provider.variables if self.provider else ()
        apis = (self.api, *self.apis(self.model))
        return tuple(dict.fromkeys((*own, *(name for api in apis for name in (api.key, api.endpoint)))))

    async def check(self, machine: Machine) -> str | None:
        """Check that the program is on PATH, its version is supported and a key is set, and return the version."""
        if (problem := self._problem(self.provider, self.model)) is not None:  # head names models, base providers
            raise CannotRunError(f"The agent {self.type} cannot run: `provider` {problem}.", "Change `model`.")
        key = self.api.key
        has_key = bool(self.provider or machine.credentials.get(key) or self.env.get(key))
        words = machine.program_words(self.program)
        result = None if words is None else await machine.output(f"{shlex.join(words)} --version")
        if result is None or result.shell_status in _NOT_FOUND:
            more = "" if has_key else f", and a key in {key}"
            raise CannotRunError(
                f"The agent {self.type} needs the program `{self.program}` on PATH{more}.", self._install()
            )
        found = _VERSION.search(result.stdout) if result.ok else None
        if found is None:
            why = error_line(result.stderr.strip() or result.stdout) or result.how_it_ended()
            raise CannotRunError(f"`{self.program} --version` printed no version: {why}", self._install())
        self._check_version(found[0])
        if not has_key:
            raise MissingKeyError(
                f"The agent {self.type} needs a key in {key}.",
                "Set it in the environment; in a workflow, from a secret.",
            )
        return found[0]

    def _check_version(self, found: str) -> None:
        if self.version is not None and found != self.version:
            raise CannotRunError(f"`{self.program}` is {found}; the suite pins {self.version}.", self._install())
        if tuple(map(int, found.split("."))) < self.oldest:
            oldest = ".".join(map(str, self.oldest))
            raise CannotRunError(f"`{self.program}` {found} is too old; {oldest} or newer is needed.", self._install())

    def _install(self) -> str:
        return f"Install it: npm install --global {self.package}@{self.version or self.tested}"

    async def run(self, session: Session) -> End:
        """Start the program, record its output and its calls, and return how it ended."""
        launch = self.launch(session)
        reading = _Output(session, self.stream(session))
        program, *arguments = launch.argv
        words = session.program_words(program) or (program,)
        command = f"{_preflight(session)}exec {shlex.join([*words, *arguments])}"
        try:
            result = await session.program(command, stdin=launch.stdin, env=launch.env, watch=reading.watch)
        finally:
            told = self._record(session, reading)
        if result.shell_status == PASSED_BY and not reading.lines:
            raise RecorderBypassedError(result.stderr.strip())
        for event in self.after(result.stderr):
            session.emit(event)
        return own_end(told, result)

    def _record(self, session: Session, reading: _Output) -> End | None:
        """Read the whole output again, now that the side files and the time of the end are known."""
        stream = self.stream(session)
        last, told = 0.0, None
        for line, last in reading.lines:
            for event in stream.read(line):
                session.emit(event.model_copy(update={"at": last}))
        for event in stream.close():
            if isinstance(event, End):
                told = event.model_copy(update={"at": 0.0})  # the session's clock, not the agent's
            else:
                session.emit(event.model_copy(update={"at": last}))
        session.told = told or stream.so_far()
        return told

    def launch(self, session: Session) -> AgentLaunch:
        """Write the program's configuration below HOME, and return how to start it."""
        raise NotImplementedError

    def stream(self, session: Session) -> JsonLines:
        """Return a reader for the program's output, with what its side files contain so far."""
        raise NotImplementedError

    def after(self, stderr: str) -> tuple[Event, ...]:
        """Return the events that only stderr reports."""
        return ()

    def own_environment(self, session: Session) -> dict[str, str]:
        """Return the agent's API key and the address of its model."""
        return dict(session.credentials)


def invalid_call(number: int, tool: str) -> tuple[Event, ...]:
    """Return the events of a call of a tool that does not exist."""
    name = f"invalid-{number}"
    return ToolCall(id=name, tool=tool), ToolResult(id=name, status="invalid")


def _preflight(session: Session) -> str:
    """Return shell lines that stop the start if bash, the agents' shell, does not resolve the tool's name to the
    recorder.
    """
    if session.recorder is None:
        return ""
    name = session.binary.rpartition("/")[2]
    bash = shlex.join(session.program_words("bash") or ("bash",))  # it has the agent's key in its environment
    found = f"$({bash} -c {shlex.quote(f'command -v -- {shlex.quote(name)}')})"
    said = f"in the agent's shell {name} does not lead to the recorder"
    leads = f'[ "{found}" = {shlex.quote(str(session.recorder))} ]'
    return f"{leads} || {{ echo {shlex.quote(said)} >&2; exit {PASSED_BY}; }}\n"
