"""Runs a server that a trial's step exchanges lines with while it runs other commands."""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path

from tidegate.trial.processes import Command, Supervisor
from tidegate.trial.sandbox.supervisor.messages import Ended

END_SECS = 2.0  # for the server to end by itself after its standard input is closed
BEHIND_BYTES = 1 << 16  # unread input from which on a server counts as behind
FULL_SECS = 0.01  # between two attempts to write to a server that does not read


class LineTooLongError(Exception):
    """A line from the server exceeds the limit; it has been skipped."""


@dataclass
class ServerProcess:
    """The standard input and output of a running server."""

    _running: asyncio.Future[Ended]
    _input: int
    _output: asyncio.StreamReader
    _unsent: bytes = b""

    @property
    def is_behind(self) -> bool:
        """True if the server has not read its input for long: send it only what is necessary."""
        return len(self._unsent) > BEHIND_BYTES

    def say(self, line: bytes) -> None:
        """Queue a line, and send as much of the queue as the server accepts without blocking."""
        self._unsent += line + b"\n"
        self._send()

    async def all_said(self) -> None:
        """Wait until the server has accepted everything, or has ended."""
        while self._unsent and not self._running.done():
            await asyncio.sleep(FULL_SECS)
            self._send()

    def _send(self) -> None:
        with suppress(BlockingIOError):
            while self._unsent:
                self._unsent = self._unsent[os.write(self._input, self._unsent) :]

    async def next_line(self) -> bytes | None:
        """Return the next line, or None if the server has ended. Raises LineTooLongError once per overlong line."""
        too_long = False
        while True:
            try:
                line = await self._output.readuntil()
            except asyncio.LimitOverrunError as error:
                await self._output.readexactly(error.consumed)
                too_long = True
                continue
            except asyncio.IncompleteReadError as error:
                line = error.partial
            if too_long:
                raise LineTooLongError
            return line or None

    async def ended(self) -> Ended:
        """Wait for the server and return how it ended. Raises SupervisorLost if that is unknown."""
        return await asyncio.shield(self._running)


@asynccontextmanager
async def serving(
    supervisor: Supervisor, command: Command, folder: Path, line_bytes: int
) -> AsyncIterator[ServerProcess]:
    """Run the command as a server until the block ends; then all its processes are terminated.

    Its standard input and output are FIFOs in `folder`, which belongs to Tidegate. `line_bytes` limits a line's length.
    """
    folder.mkdir()
    requests, answers = folder / "requests", folder / "answers"
    for fifo in (requests, answers):
        os.mkfifo(fifo, 0o600)
    # Hold both FIFOs open at both ends, so that they work before the server opens them and after it closes them.
    reader = os.open(requests, os.O_RDONLY | os.O_NONBLOCK)
    write_end = os.open(requests, os.O_WRONLY | os.O_NONBLOCK)
    read_end = os.open(answers, os.O_RDONLY | os.O_NONBLOCK)
    writer = os.open(answers, os.O_WRONLY)
    output = asyncio.StreamReader(limit=line_bytes)
    transport, _ = await asyncio.get_running_loop().connect_read_pipe(
        lambda: asyncio.StreamReaderProtocol(output), os.fdopen(read_end, "rb", 0)
    )
    running = asyncio.ensure_future(supervisor.run(replace(command, stdin=requests, stdout=answers)))
    running.add_done_callback(lambda _: os.close(writer))  # so that its output reaches end of file
    try:
        yield ServerProcess(running, write_end, output)
    finally:
        os.close(write_end)
        os.close(reader)
        try:
            await asyncio.wait({running}, timeout=END_SECS)
        finally:
            running.cancel()
            await asyncio.gather(running, return_exceptions=True)
            transport.close()
