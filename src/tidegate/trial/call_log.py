"""Receives what the recorder reports during a trial, so that nothing of the trial can take it back."""

from __future__ import annotations

import asyncio
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from fcntl import F_SETPIPE_SZ, fcntl
from pathlib import Path

from tidegate.trial.recorder import READ_LIMIT

PIPE_BYTES = 1 << 20  # what an unprivileged process may ask for
READ_BYTES = 64 << 10  # at once: Python allocates as much


class CallLog:
    """A FIFO that the trial's commands write to, and the file of ours that all of it goes to.

    `lost` says why entries may be missing; None while all of them are there.
    """

    def __init__(self, fifo: Path, file: Path) -> None:
        self.lost: str | None = None
        self._fifo = fifo
        os.mkfifo(fifo, 0o600)
        self._reader = os.open(fifo, os.O_RDONLY | os.O_NONBLOCK)
        self._writer = os.open(fifo, os.O_WRONLY | os.O_NONBLOCK)  # so that the FIFO never comes to its end
        fifo.chmod(0o222)  # the trial's user may write, and nothing else
        with suppress(OSError):  # a user may have many large pipes already
            fcntl(self._reader, F_SETPIPE_SZ, PIPE_BYTES)
        self._file = os.open(file, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW, 0o600)
        self._left = READ_LIMIT
        asyncio.get_running_loop().add_reader(self._reader, self._take)

    @property
    def size(self) -> int:
        """The bytes that have been recorded."""
        return READ_LIMIT - self._left

    def close(self) -> None:
        """Take what is left and remove the FIFO. Nothing of the trial may run any more."""
        asyncio.get_running_loop().remove_reader(self._reader)
        self.take_all()
        if self.lost is None and not self._is_ours():
            self.lost = "a command removed or replaced the recorder's FIFO"
        self._fifo.unlink(missing_ok=True)
        for descriptor in (self._reader, self._writer, self._file):
            os.close(descriptor)

    def take_all(self) -> None:
        """Take all that has been written by now."""
        while self.lost is None and self._take():
            pass

    def _take(self) -> bool:
        """Move what has come into the file; return True if there may be more."""
        try:
            data = os.read(self._reader, READ_BYTES)
        except BlockingIOError:
            return False
        if len(data) > self._left:
            return self._stop(f"more than {READ_LIMIT >> 20} MB were recorded")
        self._left -= len(data)
        try:
            while data:
                data = data[os.write(self._file, data) :]
        except OSError as error:
            return self._stop(f"the calls cannot be recorded: {error.strerror}")
        return True

    def _stop(self, why: str) -> bool:
        """Take nothing more: whoever goes on writing waits until the trial's time is up."""
        self.lost = why
        asyncio.get_running_loop().remove_reader(self._reader)
        return False

    def _is_ours(self) -> bool:
        try:
            now = self._fifo.lstat()
        except OSError:
            return False
        return stat.S_ISFIFO(now.st_mode) and now.st_ino == os.fstat(self._reader).st_ino


@contextmanager
def receiving(fifo: Path, file: Path) -> Iterator[CallLog]:
    """Receive the recorder's entries while the block lasts."""
    log = CallLog(fifo, file)
    try:
        yield log
    finally:
        log.close()
