"""Reads token counts from providers' answers as they stream by: Anthropic, OpenAI and Google, streamed or not."""

from __future__ import annotations

from typing import NamedTuple

from pydantic_core import from_json

from tidegate.streams.json_values import Json, count, mapping

LONGEST = 8 << 20  # bytes of a line, or of an unstreamed answer; the tokens of longer ones are not counted
_MARKS = (b'"usage"', b'"usageMetadata"')


class Tokens(NamedTuple):
    """Token counts. `read` and `written` are tokens read from and written to the cache; both are part of `given`."""

    given: int = 0
    said: int = 0
    read: int = 0
    written: int = 0

    def plus(self, other: Tokens) -> Tokens:
        """Return the sums."""
        return Tokens(*(mine + its for mine, its in zip(self, other, strict=True)))


class Answer:
    """The tokens of one answer. A stream reports running totals several times, so the largest value of each is kept."""

    def __init__(self, *, streamed: bool) -> None:
        self.tokens = Tokens()
        self._streamed = streamed
        self._rest: bytes | None = b""

    def feed(self, piece: bytes) -> None:
        """Process the next bytes."""
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
        """Process what is left after the last byte."""
        if self._rest:
            self._line(self._rest)
        self._rest = None

    def _line(self, line: bytes) -> None:
        """Read the tokens from one event or one whole answer. Most lines contain none."""
        if any(mark in line for mark in _MARKS):
            try:
                data = from_json(line.removeprefix(b"data:").strip())
            except ValueError:
                return
            for one in data if isinstance(data, list) else [data]:
                self.tokens = Tokens(*map(max, self.tokens, _told(one)))


def _told(data: Json) -> Tokens:
    """Return the tokens in a parsed answer, in whichever of the three providers' formats it is."""
    if google := mapping(data, "usageMetadata"):
        said = (count(google, "candidatesTokenCount") or 0) + (count(google, "thoughtsTokenCount") or 0)
        return Tokens(count(google, "promptTokenCount") or 0, said, count(google, "cachedContentTokenCount") or 0)
    told = mapping(data, "usage") or mapping(data, "message", "usage") or mapping(data, "response", "usage")
    given, said = (count(told, key) or 0 for key in ("input_tokens", "output_tokens"))
    if details := mapping(told, "input_tokens_details"):  # only OpenAI's `input_tokens` include cached ones
        return Tokens(given, said, count(details, "cached_tokens") or 0)
    read, written = (count(told, f"cache_{key}_input_tokens") or 0 for key in ("read", "creation"))
    return Tokens(given + read + written, said, read, written)
