"""Gets supervisors from the starter, a process that forks them; it runs while something needs it."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import socket
import subprocess
import sys
from collections.abc import Callable, Sequence
from contextlib import ExitStack, suppress
from pathlib import Path

from tidegate.trial.sandbox.supervisor.spawn import Launch, received, spawn

PROGRAM = Path(__file__).with_name("supervisor") / "__main__.py"
LAUNCHER = PROGRAM.with_name("launcher-program")  # launcher.c, compiled by the build
SHELL = "/bin/sh"
PATIENCE_SECS = 5.0
_LINE_BYTES = 1000  # of the first line, at most


def why_not_started(launch: Launch) -> str:
    """Return why a command cannot be started in this way, as its launcher says; '' if it can."""
    ours, theirs = socket.socketpair()
    with ours, theirs:
        try:
            pid = spawn(str(LAUNCHER), launch, (), theirs.fileno())
        except OSError as error:
            return str(error.strerror)
        theirs.close()
        said, listeners = received(ours)
        for listener in listeners:
            os.close(listener)
        os.waitpid(pid, 0)
    return said


class NoSupervisorError(Exception):
    """The supervisor could not be started; the message says what is missing."""


class SupervisorProcess:
    """A process that is not Tidegate's own child, by its descriptor. `on_end` is called when it has ended."""

    def __init__(self, descriptor: int, on_end: Callable[[], None]) -> None:
        self._descriptor = descriptor
        self._on_end = on_end
        self._ended = asyncio.Event()
        asyncio.get_running_loop().add_reader(descriptor, self._end)

    def send_signal(self, number: int) -> None:
        """Send a signal, unless it has ended."""
        if not self._ended.is_set():
            with suppress(ProcessLookupError):
                signal.pidfd_send_signal(self._descriptor, number)

    async def wait(self) -> None:
        """Wait for its end."""
        await self._ended.wait()

    def _end(self) -> None:
        asyncio.get_running_loop().remove_reader(self._descriptor)
        os.close(self._descriptor)
        self._ended.set()
        self._on_end()


Streams = tuple[asyncio.StreamReader, asyncio.StreamWriter]


async def start_supervisor(namespaces: Sequence[int]) -> tuple[SupervisorProcess, Streams]:
    """Return a new supervisor, which inherits these descriptors, and the connection to it.

    Raises NoSupervisorError if the system lacks a required feature.
    """
    # A command may have killed the starter: the second one is new.
    started = await _started(namespaces) or await _started(namespaces)
    if started is None:
        raise NoSupervisorError("its helper process could not be started")
    return started


async def _started(namespaces: Sequence[int]) -> tuple[SupervisorProcess, Streams] | None:
    """Return a new supervisor and the connection to it; None if the starter has ended."""
    starter = Starter.get()
    with ExitStack() as undone:
        undone.callback(starter.let_go)
        ours, theirs = socket.socketpair()
        undone.callback(ours.close)  # which ends the supervisor
        with theirs:
            starter.request(theirs.fileno(), namespaces)
        descriptor = await _introduced(ours)
        if descriptor is None:
            starter.replace()
            return None
        undone.callback(os.close, descriptor)
        streams = await asyncio.open_connection(sock=ours)
        undone.pop_all()
    return SupervisorProcess(descriptor, starter.let_go), streams


async def _introduced(connection: socket.socket) -> int | None:
    """Return the descriptor that comes with the supervisor's first line, which says what is missing."""
    loop, arrived = asyncio.get_running_loop(), asyncio.Event()
    loop.add_reader(connection, arrived.set)
    try:
        await arrived.wait()
    finally:
        loop.remove_reader(connection)
    line, descriptors, _, _ = socket.recv_fds(connection, _LINE_BYTES, 1)
    if line and not descriptors:
        raise NoSupervisorError(json.loads(line)["missing"])
    return descriptors[0] if descriptors else None


class Starter:
    """The starter. Each supervisor holds it until its end, and so does a run; the last one ends it."""

    _running: Starter | None = None

    def __init__(self) -> None:
        self._held = 0
        self._requests, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        with theirs:
            self._process = subprocess.Popen(
                (sys.executable, "-I", "-S", "-X", "utf8", str(PROGRAM), str(LAUNCHER)),
                stdin=theirs.fileno(),
                stdout=subprocess.DEVNULL,
                # Pass no secrets on. A Python from a tool cache may need this variable to find its own library.
                env={name: os.environ[name] for name in ("LD_LIBRARY_PATH",) if name in os.environ},
                cwd="/",
                start_new_session=True,  # Ctrl-C must reach only Tidegate, which then stops commands in order
            )

    @classmethod
    def get(cls) -> Starter:
        """Return the running starter, or a new one if there is none; the caller holds it."""
        if cls._running is None:
            cls._running = cls()
        cls._running._held += 1  # noqa: SLF001
        return cls._running

    def request(self, connection: int, namespaces: Sequence[int]) -> None:
        """Have it fork a supervisor with this connection as its standard input. Its answer arrives there."""
        self._process.send_signal(signal.SIGCONT)  # a command may have stopped it
        numbers = " ".join(map(str, (0, *namespaces)))
        with suppress(ConnectionError):  # it has ended: the connection closes
            socket.send_fds(self._requests, [numbers.encode()], [connection, *namespaces])

    def replace(self) -> None:
        """Have the next supervisor forked by a new one: this one has ended."""
        if Starter._running is self:
            Starter._running = None

    def let_go(self) -> None:
        """End it if nothing else holds it."""
        self._held -= 1
        if self._held:
            return
        self._requests.close()
        self._process.send_signal(signal.SIGCONT)
        try:
            self._process.wait(PATIENCE_SECS)  # its last supervisor has ended, or is about to
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        self.replace()
