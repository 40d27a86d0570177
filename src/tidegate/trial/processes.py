"""Runs commands such that no process outlives them: the asyncio client of the supervisor."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import sys
from collections import deque
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple, Self, cast

from tidegate.errors import CannotRunError
from tidegate.model.event import CommandEnd, CommandResult
from tidegate.model.suite import Limits
from tidegate.trial import recorder
from tidegate.trial.safe_files import read_output
from tidegate.trial.sandbox import starter
from tidegate.trial.sandbox.confinement import Confinement
from tidegate.trial.sandbox.starter import NoSupervisorError, Streams, SupervisorProcess, start_supervisor
from tidegate.trial.sandbox.supervisor.messages import Ended, Request

PATIENCE_SECS = 30.0  # the supervisor gives up terminating processes after 20 s; the rest is for a busy machine
LARGEST_FILE = 4 << 30  # bytes; a command that writes a larger file is stopped
MEGABYTE = 1_000_000
SHELL = "/bin/sh"
ADVICE = "Run it on Linux 5.4 or newer, for example in the container image or on an ubuntu runner."


class SupervisorLost(Exception):  # noqa: N818  (not an error in Tidegate: a command did this to its supervisor)
    """The supervisor has ended or could not terminate its processes; nothing that ran there is measured."""


class Refused(SupervisorLost):
    """The system could not start a command (full disk, too many processes); the supervisor remains usable."""


@dataclass(frozen=True)
class Command:
    """One program to run. Its outputs go to files, which may be the same file. Without `stdin`, its input is empty."""

    argv: tuple[str, ...]
    cwd: Path
    env: Mapping[str, str]
    stdout: Path
    stderr: Path
    stdin: Path | None = None
    timeout_secs: float | None = None
    limits: Limits = field(default_factory=Limits)
    interrupt_secs: float = 0  # from SIGINT to SIGTERM, after a timeout; 0: no SIGINT
    grace_secs: float = 0.5  # from SIGTERM to SIGKILL, after a timeout


class Account(NamedTuple):
    """The user that a supervisor's commands run as. Needs root; no two supervisors may share a user."""

    uid: int
    gid: int


class Supervisor:
    """The supervisor process of one slot; runs one command at a time."""

    def __init__(
        self,
        process: SupervisorProcess,
        streams: Streams,
        account: Account | None,
        confinement: Confinement,
    ) -> None:
        self._process = process
        self._reader, self._writer = streams
        self._account = account
        self.confinement = confinement
        self._busy = asyncio.Lock()
        self._lost: str | None = None
        self._shares_user = False

    @classmethod
    async def start(cls, account: Account | None = None, confinement: Confinement | None = None) -> Self:
        """Start the process. Raises CannotRunError if the system lacks a required feature.

        `confinement` is what commands are kept to; the caller closes its network.
        """
        confinement = confinement or Confinement()
        if sys.platform != "linux":
            raise CannotRunError(f"Tidegate needs Linux to run a trial's commands; this is {sys.platform}.", ADVICE)
        if not all(os.access(program, os.X_OK) for program in (starter.LAUNCHER, recorder.PROGRAM)):
            raise CannotRunError("The recorder and the launcher are not compiled.", "Install Tidegate with pip.")
        namespaces = confinement.network.namespaces if confinement.network else ()
        try:
            started = await start_supervisor(namespaces)
        except NoSupervisorError as missing:
            why = f"Tidegate needs Linux with child subreapers, pidfd and /proc: {missing}."
            raise CannotRunError(why, ADVICE) from None
        supervisor = cls(*started, account, confinement)
        supervisor._send(json.dumps(confinement.common_files))
        return supervisor

    @property
    def account(self) -> Account | None:
        """The user that its commands run as; None for Tidegate's own."""
        return self._account

    @property
    def is_usable(self) -> bool:
        """True if it can run another command: it is neither lost nor closed."""
        return self._lost is None

    @asynccontextmanager
    async def beside(self) -> AsyncIterator[Supervisor]:
        """Yield a second supervisor for the same user, whose command may run across several commands of this one.

        Meanwhile, the end of a command terminates only the processes below it, not all of the user's processes.
        """
        async with await Supervisor.start(self._account, self.confinement.copy()) as other:
            self._shares_user = other._shares_user = True  # noqa: SLF001
            try:
                yield other
            finally:
                self._shares_user = False

    async def run(self, command: Command) -> Ended:
        """Run one command until it and everything below it has ended. Raises SupervisorLost if that fails.

        If the caller is cancelled, all processes are gone before CancelledError is passed on.
        """
        async with self._busy:
            if self._lost is not None:
                raise SupervisorLost(self._lost)
            self._send(json.dumps(self._request(command)))
            exchange = asyncio.ensure_future(self._end_of(command))
            try:
                return await asyncio.shield(exchange)
            except asyncio.CancelledError:
                self._send("cancel")
                await self._wind_up(exchange)
                raise

    async def close(self) -> None:
        """End the process and everything that runs below it. May be called repeatedly."""
        self._lost = self._lost or "it was closed"
        self._writer.close()  # when its input ends, it terminates all processes and exits
        self._process.send_signal(signal.SIGCONT)  # in case a command has stopped it
        try:
            async with asyncio.timeout(PATIENCE_SECS):
                await self._process.wait()
        except TimeoutError:
            self._process.send_signal(signal.SIGKILL)
            await self._process.wait()
        with suppress(ConnectionError):
            await self._writer.wait_closed()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    async def _end_of(self, command: Command) -> Ended:
        timeout = command.timeout_secs
        try:
            grace = command.interrupt_secs + command.grace_secs
            async with asyncio.timeout(None if timeout is None else timeout + grace + PATIENCE_SECS):
                answer = await self._answer()
        except TimeoutError:
            self._lost = "the supervisor does not answer any more"
            await self.close()
            raise SupervisorLost(self._lost) from None
        if answer.unended:
            self._lost = f"{answer.unended} processes of a command could not be ended"
            raise SupervisorLost(self._lost)
        if answer.end == "refused":
            raise Refused(f"the system refused a command: {answer.reason}")
        return answer

    async def _wind_up(self, exchange: asyncio.Future[Ended]) -> None:
        """Wait for the answer to a cancellation, even if this task is cancelled again meanwhile."""
        loop = asyncio.get_running_loop()
        deadline = loop.time() + PATIENCE_SECS
        while not exchange.done() and loop.time() < deadline:
            with suppress(asyncio.CancelledError):
                await asyncio.wait({exchange}, timeout=deadline - loop.time())
        if not exchange.done() or exchange.cancelled():
            exchange.cancel()
            self._lost = "the supervisor did not answer a cancellation"
            await self.close()
        else:
            exchange.exception()  # retrieve the exception: the result is no longer needed

    async def _answer(self) -> Ended:
        try:
            line = await self._reader.readline()
        except ConnectionError:
            line = b""
        if not line.endswith(b"\n"):
            self._lost = self._lost or "the supervisor was killed, probably by the command that it ran"
            raise SupervisorLost(self._lost)
        return Ended(**json.loads(line))

    def _request(self, command: Command) -> dict[str, Any]:
        limits, account, confinement = command.limits, self._account, self.confinement
        return Request(
            argv=list(command.argv),
            cwd=str(command.cwd),
            env={**confinement.variables, **command.env},
            stdin=os.devnull if command.stdin is None else str(command.stdin),
            stdout=str(command.stdout),
            stderr=str(command.stderr),
            timeout_secs=command.timeout_secs,
            interrupt_secs=command.interrupt_secs,
            grace_secs=command.grace_secs,
            output_bytes=int(limits.output_mb * MEGABYTE),
            memory_bytes=int(limits.memory_mb * MEGABYTE),
            processes=limits.processes,
            files=limits.files,
            file_bytes=LARGEST_FILE,
            account=account,
            shares_user=self._shares_user,
            jail=confinement.jail(),
        )._asdict()

    def _send(self, line: str) -> None:
        self._writer.write(line.encode() + b"\n")


async def run_shell(
    supervisor: Supervisor,
    command_line: str,
    *,
    cwd: Path,
    env: Mapping[str, str],
    output: Path,
    timeout_secs: float,
    limits: Limits,
    stdin: Path | None = None,
    interrupt_secs: float = 0,
) -> tuple[CommandResult, Ended]:
    """Run `sh -c command_line`. Its outputs go to `output` plus `.stdout` and `.stderr`.

    The shell is the system's, regardless of PATH in `env`. Raises Refused if it cannot be started.
    """
    files = [output.with_name(f"{output.name}.{stream}") for stream in ("stdout", "stderr")]
    ended = await supervisor.run(
        Command(
            argv=(SHELL, "-c", command_line),
            cwd=cwd,
            env=env,
            stdout=files[0],
            stderr=files[1],
            stdin=stdin,
            timeout_secs=timeout_secs,
            limits=limits,
            interrupt_secs=interrupt_secs,
        )
    )
    if ended.end == "not_started":  # a shell always can be, unless something is wrong with the machine or its folder
        raise Refused(f"the system refused a command: {ended.reason}")
    result = _result(command_line, ended, files, int(limits.output_mb * MEGABYTE))
    supervisor.confinement.note_output(f"{result.stderr}\n{result.stdout}")
    return result, ended


def _result(command_line: str, ended: Ended, files: Sequence[Path], most: int) -> CommandResult:
    """Return how the command ended, with at most that many bytes of each of its outputs."""
    (stdout, cut), (stderr, cut_too) = [read_output(file, most) for file in files]
    return CommandResult(
        command=command_line,
        end=cast("CommandEnd", ended.end),
        exit_code=ended.exit_code,
        signal=ended.signal,
        limit=ended.limit,
        stdout=stdout,
        stderr=stderr,
        truncated=cut or cut_too or ended.limit == "output",
        duration_s=round(ended.duration_s, 3),
    )


class SupervisorPool:
    """A pool of supervisors. A trial occupies its agent's weight in slots; one that exceeds the total runs alone.

    `start` returns each new supervisor.
    """

    def __init__(self, jobs: int, start: Callable[[], Awaitable[Supervisor]] = Supervisor.start) -> None:
        self._jobs = float(jobs)
        self._start = start
        self._used = 0.0
        self._waiting: deque[tuple[float, asyncio.Future[None]]] = deque()
        self._idle: list[Supervisor] = []

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        """Close all supervisors, which terminates everything below them."""
        while self._idle:
            await self._idle.pop().close()

    @asynccontextmanager
    async def slot(self, weight: float = 1.0) -> AsyncIterator[Supervisor]:
        """Yield a supervisor for one trial, as soon as there is room; first come, first served."""
        await self._enter(weight)
        try:
            supervisor = self._idle.pop() if self._idle else await self._start()
            try:
                yield supervisor
            finally:
                supervisor.confinement.lift()
                if supervisor.is_usable:
                    self._idle.append(supervisor)
                else:
                    await supervisor.close()
        finally:
            self._leave(weight)

    async def _enter(self, weight: float) -> None:
        turn = asyncio.get_running_loop().create_future()
        self._waiting.append((weight, turn))
        self._admit()
        try:
            await turn
        except asyncio.CancelledError:
            if turn.done() and not turn.cancelled():  # it was admitted and cancelled at the same time
                self._leave(weight)
            raise

    def _leave(self, weight: float) -> None:
        self._used -= weight
        self._admit()

    def _admit(self) -> None:
        """Admit those who wait, in order, while there is room. Waking only these keeps long queues cheap."""
        while self._waiting and (self._used == 0 or self._used + self._waiting[0][0] <= self._jobs):
            weight, turn = self._waiting.popleft()
            if not turn.done():
                self._used += weight
                turn.set_result(None)
