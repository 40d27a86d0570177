"""A program's output, line by line, while the program writes it."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path

from tidegate.trial.safe_files import open_regular

PIECE = 1 << 20  # bytes read at once


class Tail:
    """The lines of a growing file, each with when it came; the times are kept beside the file, one per line."""

    def __init__(self, path: Path, started: float) -> None:
        self._path = path
        self._started = started
        self._position = 0
        self._rest = b""
        self._arrivals = path.with_suffix(".arrivals").open("w", encoding="ascii")
        self.grew_at = time.monotonic()

    def lines(self) -> Iterator[tuple[str, float]]:
        """The whole lines that have come since the last look, and the seconds since the start."""
        while piece := self._read():
            self.grew_at = time.monotonic()
            *whole, self._rest = (self._rest + piece).split(b"\n")
            for line in whole:
                yield self._line(line)

    def close(self) -> Iterator[tuple[str, float]]:
        """All that is left, a last line without its newline too."""
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
