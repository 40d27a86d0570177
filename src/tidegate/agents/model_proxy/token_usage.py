"""Reads token counts from providers' answers as they stream by: Anthropic, OpenAI and Google, streamed or not."""

from __future__ import annotations

import re

from pydantic_core import from_json

from tidegate.agents.streams.json_values import Json, mapping
from tidegate.agents.streams.provider_answers import Tokens, is_last_count, letters_of, tokens_of

LONGEST = 8 << 20  # bytes of a line, or of an unstreamed answer; the tokens of longer ones are not counted
LETTERS = 4  # that make a token, about, in English text and JSON
_MARKS = (b'"usage"', b'"usageMetadata"')
_ENCODED = re.compile(rb"[A-Za-z0-9+/_-]{1000,}={0,2}")  # images and the like, whose tokens are not their letters


def request_letters(body: bytes) -> int:
    """Return how many letters of a request a model reads, about."""
    return len(_ENCODED.sub(b"", body))


class Answer:
    """The tokens of one answer. A stream reports running totals several times, so the largest value of each is kept.

    What a stream has not reported when it is cut off is guessed from the letters of the request, `asked`, and of the
    answer so far. Nothing is guessed if `asked` is 0, because the request was not for a model.
    """

    def __init__(self, *, streamed: bool, asked: int = 0) -> None:
        self._told = Tokens()
        self._asked = asked
        self._letters = 0
        self._is_final = False  # the provider has reported its last count
        self._streamed = streamed
        self._rest: bytes | None = b""

    @property
    def tokens(self) -> Tokens:
        """The tokens by now."""
        if self._is_final or not self._asked:
            return self._told
        told = self._told
        return told._replace(given=told.given or _tokens(self._asked), said=max(told.said, _tokens(self._letters)))

    @property
    def is_guessed(self) -> bool:
        """True if a part of the tokens is guessed."""
        return self.tokens != self._told

    def feed(self, piece: bytes) -> None:
        """Process the next bytes."""
        if self._rest is None:
            return
        self._rest += piece
        if self._streamed:
            *lines, self._rest = self._rest.split(b"\n")
            for line in lines:
                self._line(line)
        else:
            self._letters += len(piece)
        if len(self._rest) > LONGEST:
            self._rest = None

    def close(self) -> None:
        """Process what is left after the last byte."""
        if self._rest:
            self._line(self._rest)
        self._rest = None

    def _line(self, line: bytes) -> None:
        """Read the tokens from one event or one whole answer."""
        if not self._asked and not any(mark in line for mark in _MARKS):
            return
        try:
            data = from_json(line.removeprefix(b"data:").strip())
        except ValueError:
            return
        for one in data if isinstance(data, list) else [data]:
            self._event(mapping({"": one}, ""))

    def _event(self, event: Json) -> None:
        tokens = tokens_of(event)
        self._told = Tokens(*map(max, self._told, tokens))
        self._is_final = self._is_final or (any(tokens) and is_last_count(event))
        if self._streamed:
            self._letters += letters_of(event)


def _tokens(letters: int) -> int:
    return -(-letters // LETTERS)
