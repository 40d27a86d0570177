"""A server that a trial's step talks to, line by line, while it runs other commands."""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path

from tidegate.trial.processes import Command, Ended, Supervisor

END_SECS = 2.0  # that a server has to end by itself, from the end of its standard input
BEHIND_BYTES = 1 << 16  # that wait to be read
FULL_SECS = 0.01  # between two tries to write to a server that does not read


class LineTooLongError(Exception):
    """A line of the server is longer than any that is read; it has been passed over."""


@dataclass
class ServerProcess:
    """The line to a running server: its standard input and output."""

    _running: asyncio.Future[Ended]
    _input: int
    _output: asyncio.StreamReader
    _unsent: bytes = b""

    @property
    def is_behind(self) -> bool:
        """It has not read for long: more should only be said if it must."""
        return len(self._unsent) > BEHIND_BYTES

    def say(self, line: bytes) -> None:
        """Queue a line, and send as much of what is queued as the server takes right now."""
        self._unsent += line + b"\n"
        self._send()

    async def all_said(self) -> None:
        """Wait until the server has taken everything, or has ended."""
        while self._unsent and not self._running.done():
            await asyncio.sleep(FULL_SECS)
            self._send()

    def _send(self) -> None:
        with suppress(BlockingIOError):
            while self._unsent:
                self._unsent = self._unsent[os.write(self._input, self._unsent) :]

    async def next_line(self) -> bytes | None:
        """The server's next line; None when it has ended. LineTooLongError once for each line that is too long."""
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
        """How it ended, once it has; SupervisorLost if nobody can say."""
        return await asyncio.shield(self._running)


@asynccontextmanager
async def serving(
    supervisor: Supervisor, command: Command, folder: Path, line_bytes: int
) -> AsyncIterator[ServerProcess]:
    """The command as a server, until the block ends; then all of it is gone, whatever it does.

    Its standard input and output are FIFOs below `folder`, which is ours. Lines are read up to `line_bytes`.
    """
    folder.mkdir()
    requests, answers = folder / "requests", folder / "answers"
    for fifo in (requests, answers):
        os.mkfifo(fifo, 0o600)
    # A reader and a writer of our own: neither the time before the server nor that after it breaks a line.
    reader = os.open(requests, os.O_RDONLY | os.O_NONBLOCK)
    write_end = os.open(requests, os.O_WRONLY | os.O_NONBLOCK)
    read_end = os.open(answers, os.O_RDONLY | os.O_NONBLOCK)
    writer = os.open(answers, os.O_WRONLY)
    output = asyncio.StreamReader(limit=line_bytes)
    transport, _ = await asyncio.get_running_loop().connect_read_pipe(
        lambda: asyncio.StreamReaderProtocol(output), os.fdopen(read_end, "rb", 0)
    )
    running = asyncio.ensure_future(supervisor.run(replace(command, stdin=requests, stdout=answers)))
    running.add_done_callback(lambda _: os.close(writer))  # so that what it has said has an end
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
