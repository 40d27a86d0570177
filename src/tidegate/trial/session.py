"""What an agent can use during its step: commands under the supervisor, an MCP server, and the record."""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import Awaitable, Callable, Coroutine, Iterator, Mapping
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any, TextIO, TypeVar

from tidegate.agents.invocations.metrics import cost_of
from tidegate.model.agent import SHOWN, NoAnswerError, ServerScript, ServerTools, ToolAnswer, Watch
from tidegate.model.event import CommandResult, End, Event, ToolCall, ToolResult, Warning
from tidegate.model.probe import ServerPart
from tidegate.model.suite import DEFAULT_TIMEOUT_SECS
from tidegate.model.trial_spec import NotMeasured
from tidegate.model.value import Value
from tidegate.text.redaction import Redaction
from tidegate.text.shorten import both_ends, error_line
from tidegate.trial.directories import Attempt
from tidegate.trial.mcp.mcp_client import McpClient, NoAnswerFromServerError, connected, connected_at
from tidegate.trial.mcp.server_check import quoted
from tidegate.trial.processes import Command
from tidegate.trial.program_lookup import program_words
from tidegate.trial.recorder import Stop, StoppedBy, Stops
from tidegate.trial.safe_files import open_regular, read_output, redact_file, redacted, write_below, write_file
from tidegate.trial.sandbox.supervisor.messages import Ended
from tidegate.trial.workspace import read_file

PIECE = 1 << 20  # bytes per read
T = TypeVar("T")
M = TypeVar("M", bound=Value)

INTERRUPT_SECS = 5.0  # for an agent's program to write its last output after SIGINT
SILENCE_SECS = 240.0  # without output, then the program is stopped; longer than agents' shells wait for a command


class AgentStopped(Exception):  # noqa: N818  (not an error: how a step may end)
    """The agent was stopped from outside: at its deadline, at a limit, or because its program is missing."""

    def __init__(self, end: str, message: str, not_measured: NotMeasured | None = None) -> None:
        super().__init__(message)
        self.end = end
        self.message = message
        self.not_measured = not_measured


class TrialSession:
    """The session of one agent; implements Session (tidegate.model.agent)."""

    def __init__(
        self,
        attempt: Attempt,
        environment: Mapping[str, str],
        *,
        recorder: Path | None = None,
        server: ServerScript | None = None,
        silence_secs: float = SILENCE_SECS,
    ) -> None:
        scenario, agent, place, folders = attempt.scenario, attempt.row.agent, attempt.place, attempt.folders
        self.prompt = scenario.prompt
        self.scenario = scenario.name
        self.trial_id = attempt.spec.id
        self.binary = scenario.target.binary
        self.max_turns = scenario.max_turns or agent.max_turns
        self.workspace, self.home = folders.workspace, folders.home
        self.recorder, self.server = recorder, server
        self.credentials = place.credentials
        self.told: End | None = None
        self.repo, self.guidance = place.repo, place.of_agent.guidance
        self.prompt_file = folders.shared / "prompt.txt"
        for file in (folders.record / "prompt.txt", self.prompt_file):
            write_file(file, self.prompt.encode())
        self.events: list[Event] = []
        self.stops = Stops()
        self._steps = self._calls = 0
        self._attempt = attempt
        self._environment = environment
        self._silence_secs = silence_secs
        self._timeout_secs = min(
            scenario.timeout_secs or agent.timeout_secs or DEFAULT_TIMEOUT_SECS, attempt.most_secs.agent
        )
        self._redaction = Redaction(place.credentials)
        self._started = time.monotonic()
        self._deadline = min(self._started + self._timeout_secs, attempt.deadline)
        self.started_at = time.time()  # the same moment on the wall clock, which recorded calls have
        self._client: McpClient | None = None
        self._open = AsyncExitStack()
        self._log: TextIO = (folders.record / "events.jsonl").open("a", encoding="utf-8", buffering=1)

    def step(self, text: str) -> None:
        """Report what the agent is doing, the number of the step, and the cost so far if it is known."""
        self._steps += 1
        spent = self._spent()
        self._attempt.on_step(" · ".join([f"step {self._steps}", *spent, self._redaction.text(text)]))

    def program_words(self, name: str) -> tuple[str, ...] | None:
        """Return the words that start an agent's program: the system's, never one of the pull request's."""
        return program_words(name, self._attempt.place.agent_path)

    async def shell(self, command: str, *, timeout_secs: float | None = None, shown: int = SHOWN) -> CommandResult:
        """Run `sh -c command` in the workspace. The call and its result are recorded as they happen."""
        self.stop_if_spent()
        name = self._begin(command, ToolCall(id="", tool="shell", command=command))
        result = await self._run(command, name, timeout_secs=timeout_secs)
        output = both_ends(result.printed, shown)
        self.emit(ToolResult(id=name, status=result.status, exit_code=result.shell_status, output=output))
        self._stop_if_over(result)
        return result

    async def program(
        self,
        command: str,
        *,
        stdin: Path | None = None,
        env: Mapping[str, str] | None = None,
        watch: Watch | None = None,
        silent: bool = False,
    ) -> CommandResult:
        """Run the agent's own program. Its output is stored in the record, without the agent's API key."""
        if watch is None:
            self._attempt.on_step(command)
        running = self._run(command, "agent", stdin=stdin, env=env, interrupt_secs=INTERRUPT_SECS if watch else 0)
        try:
            result = await (running if watch is None else self._watched(running, watch, silent=silent))
        finally:
            for stream in ("stdout", "stderr"):
                redact_file(self._output("agent").with_name(f"agent.{stream}"), self._redaction)
        result = self.redacted(result)
        self._stop_if_over(result)
        if result.shell_status in (126, 127):
            reason = error_line(result.stderr) or "no message"
            raise AgentStopped("crashed", f"the agent's program could not be run: {reason}", "missing_agent")
        return result

    @property
    def is_client(self) -> bool:
        """True if the agent asks the MCP server through this session, by the official SDK."""
        return self._client is not None

    async def server_tools(self) -> ServerTools:
        """Start the MCP server that is the target and return its tools; nothing if the target is a program."""
        if self.server is None:
            return ServerTools()
        attempt, stderr = self._attempt, self._output("server.stderr")
        self._open.callback(redact_file, stderr, self._redaction)
        program = Command(
            argv=(str(self.server.program),),
            cwd=self.workspace,
            env=self._environment,
            stdout=Path(os.devnull),
            stderr=stderr,
            limits=attempt.place.limits,
        )
        connection = connected(attempt.supervisor, program, attempt.folders.scratch / "server")
        if (mcp := attempt.scenario.target.mcp) is not None and mcp.url:
            connection = connected_at(mcp, attempt.folders.early_server)
        try:
            self._client = await self.in_time(self._open.enter_async_context(connection))
            tools = await self.in_time(self._client.tools())
            attempt.faults.update(self._client.faults())
            return tools
        except NoAnswerFromServerError as error:
            why = f"the MCP server {self.server.name} did not start: {error.why}{quoted(stderr)}"
            raise AgentStopped("crashed", why, "no_session") from None

    async def ask_server(
        self, what: ServerPart, name: str, given: Mapping[str, Any], *, timeout_secs: float, shown: int = SHOWN
    ) -> ToolAnswer:
        """Call a tool, read a resource or get a prompt. The call and its result are recorded as they happen."""
        assert self.server is not None
        assert self._client is not None
        self.stop_if_spent()
        called = ToolCall(id="", tool=f"mcp__{self.server.name}__{name}", input=dict(given))
        if what != "tool":
            key, tool = ("uri", "resources/read") if what == "resource" else ("name", "prompts/get")
            called = ToolCall(id="", tool=tool, input={key: name, **({"arguments": dict(given)} if given else {})})
        call = self._begin(called.tool if what == "tool" else f"{called.tool} {name}", called)
        answer = await self.in_time(self._answer(self._client, what, name, given, timeout_secs))
        self.emit(ToolResult(id=call, status=answer.status, output=both_ends(answer.text, shown)))
        if self._client.fault:
            raise NoAnswerError(self._client.fault)
        if (over := self._client.over) is not None:
            self._stop_if_over(over.model_copy(update={"command": f"the MCP server {self.server.name}"}))
        return answer

    async def _answer(
        self, client: McpClient, what: ServerPart, name: str, given: Mapping[str, Any], timeout_secs: float
    ) -> ToolAnswer:
        """Return the answer of the server. A model only knows the tools that are listed, so no other one is called."""
        if client.over is None:
            is_listed = await client.lists(what, name)
            if not self._attempt.row.agent.asks_model_itself:  # a model may err
                client.compare(what, name, given)
                self._attempt.faults.update(client.faults())
            if not is_listed and what == "tool":
                return ToolAnswer("error", f"the server does not list the tool `{name}`")
        answer = await client.ask(what, name, given, timeout_secs)
        self._attempt.faults.update(client.faults())
        return answer._replace(status="error") if answer.status == "invalid" else answer

    async def in_time(self, waiting: Awaitable[T]) -> T:
        """Await something other than a command, at most until the step's deadline."""
        limit = asyncio.timeout(self._deadline - time.monotonic())
        try:
            async with limit:
                return await waiting
        except TimeoutError:
            if limit.expired():
                self.stops.stopped.append(Stop(time.time(), "time"))
                raise self._timed_out() from None
            raise

    def cost(self, used: End) -> float | None:
        """Return the cost of the tokens in USD, at the suite's prices."""
        return cost_of(used, self._attempt.meter.price if self._attempt.meter else None)

    def emit(self, event: Event) -> None:
        """Append one event to the record at once."""
        event = self.redacted(event)
        timed = event if event.at else event.model_copy(update={"at": round(time.monotonic() - self._started, 3)})
        self.events.append(timed)
        self._log.write(timed.model_dump_json() + "\n")

    def redacted(self, value: M) -> M:
        """Return the value without the agent's API key."""
        return redacted(value, self._redaction)

    def read_text(self, path: str) -> str | None:
        """Return a text file of the workspace, or None."""
        return self._read(self.workspace, path)

    def document(self, path: str) -> str | None:
        """Return a text file as it was before any call of the tool, or None; after a setup, as that left it."""
        has_setup = bool(self._attempt.scenario.setup)
        return self._read(self.workspace if has_setup else self._attempt.place.of_agent.folder, path)

    def _read(self, folder: Path, path: str) -> str | None:
        answer = read_file(folder, path, self._attempt.place.output_bytes)
        if answer.state not in ("present", "missing"):
            self.emit(Warning(text=f"{path} was not read: {answer.state}"))
        return answer.text

    def home_file(self, name: str, text: str) -> Path:
        """Write a file below HOME, replacing anything that a setup command has left there."""
        return write_below(self.home, name, text, self._attempt.supervisor.account)

    def write_text(self, path: str, text: str) -> None:
        """Write a text file of the workspace, replacing what is there."""
        write_below(self.workspace, path, text, self._attempt.supervisor.account)

    def side_file(self, path: Path) -> str:
        """Return a file that the agent's program left below HOME, and store a copy beside its output."""
        if not path.resolve().is_relative_to(self.home.resolve()):
            return ""
        text = self._redaction.text(read_output(path, self._attempt.place.output_bytes)[0])
        if text:
            self._output("agent").with_name(f"agent.{path.name}").write_text(text, encoding="utf-8")
        return text

    async def aclose(self) -> None:
        """Stop what still runs and close the record."""
        try:
            await self._open.aclose()
        finally:
            self._log.close()

    def known(self) -> End | None:
        """Return what the agent has reported; the proxy's report if there is none or the model is unreachable."""
        relayed = self._attempt.relayed()
        return relayed if self.told is None or (relayed and relayed.end in ("auth", "outage")) else self.told

    def _begin(self, text: str, call: ToolCall) -> str:
        """Report and record a call before it is made; return its id."""
        self._calls += 1
        name = f"call-{self._calls:03d}"
        self.step(text)
        self.emit(call.model_copy(update={"id": name}))
        return name

    def _output(self, name: str) -> Path:
        return self._attempt.folders.record / name

    async def _watched(
        self, command: Coroutine[None, None, CommandResult], watch: Watch, *, silent: bool
    ) -> CommandResult:
        tail = Tail(self._output("agent").with_name("agent.stdout"), self._started)
        by: StoppedBy = "other"

        def look() -> None:
            nonlocal by
            self.stop_if_spent()
            if not silent and time.monotonic() - tail.grew_at > self._silence_secs:
                by = "time"
                raise AgentStopped("watchdog", f"the agent printed nothing for {self._silence_secs:g} s")

        def stopping() -> None:
            self.stops.stopped.append(Stop(time.time(), by))

        return await watched(command, tail, watch, look=look, stopping=stopping)

    async def _run(
        self,
        command: str,
        name: str,
        *,
        timeout_secs: float | None = None,
        stdin: Path | None = None,
        env: Mapping[str, str] | None = None,
        interrupt_secs: float = 0,
    ) -> CommandResult:
        if (left := self._deadline - time.monotonic()) <= 0:
            raise self._timed_out()
        env = {**self._environment, "TIDEGATE_PROMPT_FILE": str(self.prompt_file), **(env or {})}
        timeout_secs = min(left, timeout_secs or left)
        result, ended = await self._attempt.command(
            command, name, env, timeout_secs, stdin=stdin, interrupt_secs=interrupt_secs
        )
        self._note_end(ended)
        return result

    def _note_end(self, ended: Ended) -> None:
        if ended.end == "exited":  # after a signal, what else runs may have been killed at the same time
            self.stops.left_over.update(ended.killed)
        if ended.killed_at is not None:
            by: StoppedBy = "time" if ended.end == "timeout" else "limit" if ended.end == "limit" else "other"
            self.stops.stopped.append(Stop(ended.killed_at, by))

    def _timed_out(self) -> AgentStopped:
        return AgentStopped("timeout", f"the agent was stopped after {self._timeout_secs:g} s")

    def _stop_if_over(self, result: CommandResult) -> None:
        """Stop the agent if a command reached a limit, or ran until the agent's time was up."""
        if result.end == "limit":
            raise AgentStopped(f"limit:{result.limit}", f"`{result.command}` was {result.how_it_ended()}")
        if result.end == "timeout" and time.monotonic() >= self._deadline:
            raise self._timed_out()

    def stop_if_spent(self) -> None:
        """Stop the agent if the trial or the run has used up its budget, as far as agents report it while they run."""
        relayed, meter = self._attempt.relayed(), self._attempt.meter
        if relayed is not None and relayed.end == "max_turns":
            raise AgentStopped("max_turns", relayed.message)
        if meter is None:
            return
        for known in filter(None, (self.told, relayed)):
            meter.tell(known)
        if (over := meter.over()) is not None:
            raise AgentStopped("budget", *over)

    def _spent(self) -> list[str]:
        """Return the cost so far, else the tokens, as a list of at most one text."""
        if (known := self.known()) is None:
            return []
        if (cost := self.cost(known)) is not None:
            return [f"${cost:.4f}"]
        tokens = (known.tokens_in or 0) + (known.tokens_out or 0)
        return [f"{tokens:,} tokens"] if tokens else []


LOOK_SECS = 0.1  # between two reads of the program's output


async def watched(
    command: Coroutine[Any, Any, T],
    tail: Tail,
    watch: Watch,
    *,
    look: Callable[[], None],
    stopping: Callable[[], None],
) -> T:
    """Return the command's result. Each printed line is passed to `watch` as it arrives; `look` is called in between.

    If `watch` returns an `End`, or `look` raises, the command is stopped; `stopping` is called before that. `watch`
    always gets the last lines.
    """
    running = asyncio.ensure_future(command)
    try:
        while not running.done():
            await asyncio.wait({running}, timeout=LOOK_SECS)
            for line in tail.lines():
                if (end := watch(*line)) is not None:
                    raise AgentStopped(end.end, end.message)
            look()
    finally:
        if not running.done():
            stopping()
            running.cancel()
            await asyncio.wait({running})
        for line in tail.close():
            watch(*line)
    return running.result()


class Tail:
    """The lines of a growing file and their arrival times, which are stored beside the file, one per line."""

    def __init__(self, path: Path, started: float) -> None:
        self._path = path
        self._started = started
        self._position = 0
        self._rest = b""
        self._arrivals = path.with_suffix(".arrivals").open("w", encoding="ascii")
        self.grew_at = time.monotonic()

    def lines(self) -> Iterator[tuple[str, float]]:
        """Yield the complete lines since the last call, each with the seconds since the start."""
        while piece := self._read():
            self.grew_at = time.monotonic()
            *whole, self._rest = (self._rest + piece).split(b"\n")
            for line in whole:
                yield self._line(line)

    def close(self) -> Iterator[tuple[str, float]]:
        """Yield all remaining lines, including a last one without a newline."""
        yield from self.lines()
        if self._rest:
            yield self._line(self._rest)
        self._arrivals.close()

    def _line(self, line: bytes) -> tuple[str, float]:
        at = round(time.monotonic() - self._started, 3)
        self._arrivals.write(f"{at}\n")
        return line.decode(errors="replace"), at

    def _read(self) -> bytes:
        file = open_regular(self._path)
        if file is None:
            return b""
        with file:
            file.seek(self._position)
            piece = file.read(PIECE)
        self._position += len(piece)
        return piece
