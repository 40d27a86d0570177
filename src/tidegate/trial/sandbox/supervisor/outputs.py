"""The outputs of a command: pipes, since a command that has a file can change what others have printed to it."""

from __future__ import annotations

# The supervisor starts fast and stays small: no pathlib.
# ruff: noqa: PTH101, PTH108
import os
import stat
from contextlib import suppress

WHOLE_PIPE = 1 << 20  # bytes: the most that the kernel keeps for a user


class Outputs:
    """Copies what is printed to pipes into files, up to `most` bytes. `size`: of all that was printed."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._files: dict[int, int] = {}  # by the pipe's end that is read
        self.size = 0

    def open(self, path: str) -> int:
        """Return the end of a new pipe into this file; a device itself."""
        file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        if not stat.S_ISREG(os.fstat(file).st_mode):
            return file
        pipe = f"{path}.pipe"  # has a name, so that Landlock can have a rule for it
        try:
            os.mkfifo(pipe, 0o600)
            self._files[os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)] = file
        except OSError:
            os.close(file)
            raise
        os.chmod(pipe, 0o222)  # /dev/stdout can be opened again, but what is in it cannot be read
        writer = os.open(pipe, os.O_WRONLY)
        os.unlink(pipe)
        return writer

    @property
    def pipes(self) -> list[int]:
        """The ends to wait for."""
        return list(self._files)

    def copy(self) -> None:
        """Copy what is in the pipes. What cannot be stored counts as too much."""
        for pipe, file in self._files.items():
            with suppress(BlockingIOError):
                data = os.read(pipe, WHOLE_PIPE)
                self.size += len(data)
                try:
                    while data and os.fstat(file).st_size < self._most:
                        data = data[os.write(file, data) :]
                except OSError:
                    self.size = self._most + 1

    def close(self) -> None:
        """Copy the rest, and cut the files to the limit."""
        before = -1
        while before < self.size <= self._most:  # root may have made a pipe larger
            before = self.size
            self.copy()
        for pipe, file in self._files.items():
            if os.fstat(file).st_size > self._most:
                os.ftruncate(file, self._most)
            os.close(file)
            os.close(pipe)
        self._files.clear()
