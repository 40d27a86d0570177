"""Reads a program's output line by line while the program writes it."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path

from tidegate.trial.safe_files import open_regular

PIECE = 1 << 20  # bytes per read


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
