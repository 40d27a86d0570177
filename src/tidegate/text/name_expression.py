"""Name expressions as in `pytest -k`: `add and not (slow or claude)`."""

from __future__ import annotations

import re
from collections.abc import Callable

_TOKEN = re.compile(r"\s*([()]|[^\s()]+)")
_OPERATORS = frozenset({"and", "or", "not", "(", ")"})
Matches = Callable[[str], bool]


def name_expression(text: str) -> Matches:
    """Return a function that tells whether a name matches: each word of the expression is a part of a name.

    Upper and lower case are the same. Raises ValueError, with the position, if the expression is invalid.
    """
    parser = _Parser([(match[1], match.start(1) + 1) for match in _TOKEN.finditer(text)], len(text) + 1)
    found = parser.either()
    parser.expect_end()
    return found


class _Parser:
    """A recursive-descent parser: `or` binds least, then `and`, then `not`."""

    def __init__(self, tokens: list[tuple[str, int]], end: int) -> None:
        self._tokens = [*tokens, ("", end)]

    def either(self) -> Matches:
        options = [self._both()]
        while self._takes("or"):
            options.append(self._both())
        return lambda name: any(option(name) for option in options)

    def expect_end(self) -> None:
        word, at = self._tokens[0]
        if word:
            raise ValueError(f"unexpected `{word}` at character {at}")

    def _both(self) -> Matches:
        parts = [self._one()]
        while self._takes("and"):
            parts.append(self._one())
        return lambda name: all(part(name) for part in parts)

    def _one(self) -> Matches:
        if self._takes("not"):
            inner = self._one()
            return lambda name: not inner(name)
        if self._takes("("):
            inner = self.either()
            if not self._takes(")"):
                raise ValueError(f"`)` is missing at character {self._tokens[0][1]}")
            return inner
        word, at = self._tokens.pop(0)
        if not word or word in _OPERATORS:
            raise ValueError(f"a part of a name is missing at character {at}")
        return lambda name: word.lower() in name.lower()

    def _takes(self, word: str) -> bool:
        if self._tokens[0][0] == word:
            self._tokens.pop(0)
            return True
        return False
