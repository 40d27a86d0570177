"""The supervisor's connection to Tidegate: requests to run one command, and how it ended."""

from __future__ import annotations

import _socket  # `socket` imports much
import json
import os
from collections.abc import Sequence
from contextlib import suppress
from struct import pack
from typing import Any, NamedTuple


class Request(NamedTuple):
    """One command: what to run, and its limits. `account` is set only if the supervisor is root."""

    argv: list[str]
    cwd: str
    env: dict[str, str]
    stdin: str
    stdout: str
    stderr: str
    timeout_secs: float | None
    interrupt_secs: float  # from SIGINT to SIGTERM, after a timeout; 0: no SIGINT
    grace_secs: float  # from SIGTERM to SIGKILL
    output_bytes: int  # stdout and stderr together
    memory_bytes: int  # resident, whole process tree
    processes: int
    files: int  # open at once, per process
    file_bytes: int  # largest file that it may write
    account: tuple[int, int] | None = None  # uid and gid
    shares_user: bool = False  # with another supervisor's command, which continues when this one ends
    # `namespaces` to enter, or `ports` that may be connected to; `files`; `calls` to refuse
    jail: dict[str, Any] = {}


class Ended(NamedTuple):
    """How a command ended. All processes below it are gone by then, except for those that are `unended`.

    `killed` lists the other processes that still ran and were killed. `killed_at` is when Tidegate began to kill the
    command (seconds since the epoch); None if it ended by itself.
    """

    end: str  # CommandEnd, or refused
    exit_code: int | None = None
    signal: int | None = None
    limit: str | None = None  # output, memory, processes or file_size
    duration_s: float = 0.0
    reason: str = ""  # if it was not started
    killed_at: float | None = None
    unended: int = 0  # processes that could not be terminated; they make the slot unusable
    killed: Sequence[int] = ()


class NotStartedError(Exception):
    """The command could not be executed; the message says why."""


class RefusedError(Exception):
    """The system could not start any command; the message says why."""


CONTROL = 0  # file descriptor of the connection to Tidegate: standard input, in both directions
CANCEL = b"cancel"


class Control:
    """The connection to Tidegate."""

    def __init__(self) -> None:
        self._buffer = bytearray()

    def next_line(self) -> bytes | None:
        """Wait for a line and return it; None if Tidegate has ended."""
        while b"\n" not in self._buffer:
            if not self.receive():
                return None
        line, _, self._buffer = self._buffer.partition(b"\n")
        return bytes(line)

    @property
    def has_more(self) -> bool:
        """True if more data arrived together with the last line."""
        return bool(self._buffer)

    def receive(self) -> bool:
        """Read the available data; return False if Tidegate has ended."""
        try:
            data = os.read(CONTROL, 1 << 20)
        except ConnectionError:
            return False
        self._buffer += data
        return bool(data)

    def introduce(self, missing: str | None) -> None:
        """Send the first line: what is missing here. If nothing is, it comes with a descriptor of this process."""
        own = [] if missing is not None else [os.pidfd_open(os.getpid())]
        connection = _socket.socket(fileno=CONTROL)
        line = json.dumps({"missing": missing}).encode() + b"\n"
        with suppress(ConnectionError):
            connection.sendmsg([line], [(_socket.SOL_SOCKET, _socket.SCM_RIGHTS, pack("i", one)) for one in own])
        connection.detach()
        for one in own:
            os.close(one)

    def send(self, message: dict[str, object]) -> None:
        """Send a line. A closed connection is ignored here; the next read reports it."""
        data = json.dumps(message).encode() + b"\n"
        with suppress(ConnectionError):
            while data:
                data = data[os.write(CONTROL, data) :]
