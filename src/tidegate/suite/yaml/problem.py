"""A problem in a file, formatted as one line."""

from __future__ import annotations

from typing import NamedTuple, Self


class Problem(NamedTuple):
    """A problem: `file:line:column: path.to.key: what is wrong`. Line 0 is the whole file. Sorts by position."""

    file: str
    line: int
    column: int
    key: str
    what: str

    @classmethod
    def of_file(cls, file: str, what: str) -> Self:
        """Return a problem of the file as a whole."""
        return cls(file, 0, 0, "", what)

    def __str__(self) -> str:
        place = f"{self.file}:{self.line}:{self.column}" if self.line else self.file
        return ": ".join(part for part in (place, self.key, self.what) if part)
