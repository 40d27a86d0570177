"""The tokens in a provider's answers, while these pass by: Anthropic's, OpenAI's and Google's, streamed or whole."""

from __future__ import annotations

from typing import NamedTuple

from pydantic_core import from_json

from tidegate.streams.json_values import Json, count, mapping

LONGEST = 8 << 20  # bytes of a line, or of an answer that is not streamed; of a longer one nothing is known
_MARKS = (b'"usage"', b'"usageMetadata"')


class Tokens(NamedTuple):
    """Counts of tokens; `read` and `written` are those from and for the cache, and a part of `given`."""

    given: int = 0
    said: int = 0
    read: int = 0
    written: int = 0

    def plus(self, other: Tokens) -> Tokens:
        """The sums."""
        return Tokens(*(mine + its for mine, its in zip(self, other, strict=True)))


class Answer:
    """One answer, `streamed` as events or whole. A stream tells sums, several times; the largest of each holds."""

    def __init__(self, *, streamed: bool) -> None:
        self.tokens = Tokens()
        self._streamed = streamed
        self._rest: bytes | None = b""

    def feed(self, piece: bytes) -> None:
        """The next bytes."""
        if self._rest is None:
            return
        self._rest += piece
        if self._streamed:
            *lines, self._rest = self._rest.split(b"\n")
            for line in lines:
                self._line(line)
        if len(self._rest) > LONGEST:
            self._rest = None

    def close(self) -> None:
        """No more bytes come."""
        if self._rest:
            self._line(self._rest)
        self._rest = None

    def _line(self, line: bytes) -> None:
        """An event's data, or a whole answer; most lines tell nothing of tokens."""
        if any(mark in line for mark in _MARKS):
            try:
                data = from_json(line.removeprefix(b"data:").strip())
            except ValueError:
                return
            for one in data if isinstance(data, list) else [data]:
                self.tokens = Tokens(*map(max, self.tokens, _told(one)))


def _told(data: Json) -> Tokens:
    if google := mapping(data, "usageMetadata"):
        said = (count(google, "candidatesTokenCount") or 0) + (count(google, "thoughtsTokenCount") or 0)
        return Tokens(count(google, "promptTokenCount") or 0, said, count(google, "cachedContentTokenCount") or 0)
    told = mapping(data, "usage") or mapping(data, "message", "usage") or mapping(data, "response", "usage")
    given, said = (count(told, key) or 0 for key in ("input_tokens", "output_tokens"))
    if details := mapping(told, "input_tokens_details"):  # OpenAI's: they are a part of `input_tokens`
        return Tokens(given, said, count(details, "cached_tokens") or 0)
    read, written = (count(told, f"cache_{key}_input_tokens") or 0 for key in ("read", "creation"))
    return Tokens(given + read + written, said, read, written)
