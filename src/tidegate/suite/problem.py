"""One thing that is wrong in one file, as one line for people."""

from __future__ import annotations

from typing import NamedTuple, Self


class Problem(NamedTuple):
    """`file:line:column: path.to.key: what is wrong`; line 0: the file as a whole. Sorts by place."""

    file: str
    line: int
    column: int
    key: str
    what: str

    @classmethod
    def of_file(cls, file: str, what: str) -> Self:
        """A problem of the file as a whole."""
        return cls(file, 0, 0, "", what)

    def __str__(self) -> str:
        place = f"{self.file}:{self.line}:{self.column}" if self.line else self.file
        return ": ".join(part for part in (place, self.key, self.what) if part)
