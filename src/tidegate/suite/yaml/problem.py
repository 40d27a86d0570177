"""A problem in a file, formatted as one line."""

from __future__ import annotations

import re
from typing import NamedTuple, Self

_WIDTH = 100  # characters of a source line that are shown


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

    def excerpt(self, source: str) -> str:
        """Return the problem's line of the source with a caret below the place; '' for the whole file."""
        lines = source.split("\n")
        if not 0 < self.line <= len(lines):
            return ""
        text, at = lines[self.line - 1].replace("\t", " "), self.column - 1
        start = max(0, at - _WIDTH // 2) if len(text) > _WIDTH else 0
        word = re.compile(r"[\w.-]*").match(text, at)
        marks = "^" + "~" * (len(word[0]) - 1 if word else 0)
        shown, margin = text[start : start + _WIDTH], f"{self.line:>5} | "
        return f"{margin}{shown}\n{' ' * (len(margin) - 2)}| {' ' * (at - start)}{marks[: _WIDTH - at + start]}"

    def __str__(self) -> str:
        place = f"{self.file}:{self.line}:{self.column}" if self.line else self.file
        return ": ".join(part for part in (place, self.key, self.what) if part)
