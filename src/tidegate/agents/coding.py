"""What the agents have in common that are programs of others: found, checked, started, read, and their end told."""

from __future__ import annotations

import re
import shlex
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import ClassVar

from tidegate.agents.end_reasons import own_end
from tidegate.errors import CannotRunError, MissingKeyError
from tidegate.model.agent import Agent, Machine, Provider, Session
from tidegate.model.event import End, Event, ToolCall, ToolResult, Warning
from tidegate.streams.json_lines import JsonLines

_VERSION = re.compile(r"\d+\.\d+\.\d+")
_NOT_FOUND = (126, 127)
PASSED_BY = 96  # exit status of the preflight


class RecorderBypassedError(Exception):
    """In the agent's shell the target's name does not lead to the recorder: its calls would not be seen."""


@dataclass(frozen=True)
class Launch:
    """How the agent's program is to be started; its configuration files are written by then."""

    argv: tuple[str, ...]
    env: Mapping[str, str]
    stdin: Path | None = None


@dataclass
class _Reading:
    """What the program has printed so far; read as it comes to show it, and to stop what has no future."""

    session: Session
    live: JsonLines
    lines: list[tuple[str, float]] = field(default_factory=list)

    def watch(self, line: str, at: float) -> End | None:
        """Keep the line, show what the agent does, and end a run whose key is refused."""
        self.lines.append((line, at))
        events = list(self.live.read(line))
        self.session.told = self.live.so_far()
        for event in events:
            if isinstance(event, ToolCall):
                self.session.step(event.command or event.tool)
        return self.live.refused()


class CodingAgent(Agent):
    """A program on PATH that does the task by itself and prints what it does as JSON lines.

    `version` pins the program's exact version. `args` are given to it besides those that Tidegate gives.
    """

    args: tuple[str, ...] = ()
    version: str | None = None

    calls_servers: ClassVar[bool] = True
    program: ClassVar[str]
    package: ClassVar[str]  # of npm
    oldest: ClassVar[tuple[int, int, int]]  # version whose output and options are known
    tested: ClassVar[str]  # version that the project's tests run

    @property
    def provider(self) -> Provider:
        """Of its models."""
        raise NotImplementedError

    @property
    def variables(self) -> tuple[str, ...]:
        """The key, and where the model is."""
        return self.provider.key, self.provider.endpoint

    async def check(self, machine: Machine) -> str | None:
        """The program is there, its version is right, and there is a key."""
        result = await machine.output(f"{self.program} --version")
        if result.shell_status in _NOT_FOUND:
            raise CannotRunError(f"The agent {self.type} needs the program `{self.program}` on PATH.", self._install())
        found = _VERSION.search(result.stdout) if result.ok else None
        if found is None:
            last = (result.stderr.strip() or result.stdout.strip() or result.how_it_ended()).splitlines()[-1]
            raise CannotRunError(f"`{self.program} --version` told no version: {last}", self._install())
        self._check_version(found[0])
        key = self.provider.key
        if not (machine.credentials.get(key) or self.env.get(key)):
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
        """Start the program, record what it says and does, and tell how it ended."""
        launch = self.launch(session)
        reading = _Reading(session, self.stream(session))
        command = f"{_preflight(session)}exec {shlex.join(launch.argv)}"
        try:
            result = await session.program(command, stdin=launch.stdin, env=launch.env, watch=reading.watch)
        finally:
            told = self._record(session, reading)
        if result.shell_status == PASSED_BY and not reading.lines:
            raise RecorderBypassedError(result.stderr.strip())
        for event in self.after(result.stderr):
            session.emit(event)
        return own_end(told, result)

    def _record(self, session: Session, reading: _Reading) -> End | None:
        """The whole of it once more, now that there are side files and it is known when the end came."""
        stream = self.stream(session)
        last, told = 0.0, None
        for line, last in reading.lines:
            for event in stream.read(line):
                session.emit(event.model_copy(update={"at": last}))
        for event in stream.close():
            if isinstance(event, End):
                told = event
            else:
                session.emit(event.model_copy(update={"at": last}))
        session.told = told or stream.so_far()
        return told

    def launch(self, session: Session) -> Launch:
        """Write the program's configuration below HOME and say how to start it."""
        raise NotImplementedError

    def stream(self, session: Session) -> JsonLines:
        """The reader of what it prints, with what its side files tell by now."""
        raise NotImplementedError

    def after(self, stderr: str) -> tuple[Event, ...]:
        """What is told on stderr alone."""
        return ()

    def own_environment(self, session: Session) -> dict[str, str]:
        """The agent's key, and where its model is."""
        return dict(session.credentials)


def invalid_call(number: int, tool: str) -> tuple[Event, ...]:
    """A call of a tool that does not exist."""
    name = f"invalid-{number}"
    return ToolCall(id=name, tool=tool), ToolResult(id=name, status="invalid")


def without_turn_limit(agent: str, session: Session) -> None:
    """Say that a limit cannot be kept."""
    if session.max_turns is not None:
        session.emit(Warning(text=f"{agent} has no limit of turns: max_turns {session.max_turns} was not enforced"))


def _preflight(session: Session) -> str:
    """Shell lines that end the start if bash, the agents' shell, finds something else by the target's name."""
    if session.recorder is None:
        return ""
    name = session.binary.rpartition("/")[2]
    found = f"$(bash -c {shlex.quote(f'command -v -- {shlex.quote(name)}')})"
    said = f"in the agent's shell {name} does not lead to the recorder"
    leads = f'[ "{found}" = {shlex.quote(str(session.recorder))} ]'
    return f"{leads} || {{ echo {shlex.quote(said)} >&2; exit {PASSED_BY}; }}\n"
