"""Read answers of models' providers: token counts, as they stream by or whole, and error messages."""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Mapping
from email.message import Message
from typing import NamedTuple

from pydantic_core import from_json

from tidegate.agents.streams.json_lines import Json, count, items, mapping, text
from tidegate.text.shorten import excerpt

MOST_BYTES = 1 << 16  # of an error's body that are read
_NOT_WRITTEN = frozenset({"type", "role", "id", "index", "signature", "thoughtSignature", "stop_reason"})  # by a model


class Tokens(NamedTuple):
    """Token counts. `read` and `written` are tokens read from and written to the cache; both are part of `given`."""

    given: int = 0
    said: int = 0
    read: int = 0
    written: int = 0

    def plus(self, other: Tokens) -> Tokens:
        """Return the sums."""
        return Tokens(*(mine + its for mine, its in zip(self, other, strict=True)))


LEAST_SECS = 0.1  # of a pause


def asked_secs(headers: Mapping[str, str] | Message) -> float | None:
    """Return the seconds after which the provider wants to be asked again; None if it does not name them."""
    for name, unit in (("retry-after-ms", 0.001), ("retry-after", 1.0)):
        try:
            return max(LEAST_SECS, float(headers.get(name) or "") * unit)
        except ValueError:  # absent, or a date
            continue
    return None


def tokens_of(data: Json) -> Tokens:
    """Return the tokens in a parsed answer, in whichever of the providers' formats it is."""
    if google := mapping(data, "usageMetadata"):
        said = (count(google, "candidatesTokenCount") or 0) + (count(google, "thoughtsTokenCount") or 0)
        return Tokens(count(google, "promptTokenCount") or 0, said, count(google, "cachedContentTokenCount") or 0)
    told = mapping(data, "usage") or mapping(data, "message", "usage") or mapping(data, "response", "usage")
    if "prompt_tokens" in told:
        return _of_openai(told, "prompt", "completion")
    if mapping(told, "input_tokens_details"):  # only OpenAI's `input_tokens` include cached ones
        return _of_openai(told, "input", "output")
    if "inputTokens" in told:  # Bedrock's Converse, whose `inputTokens` leave cached ones out
        read, written = (count(told, f"cache{key}InputTokens") or 0 for key in ("Read", "Write"))
        fresh, said = count(told, "inputTokens") or 0, count(told, "outputTokens") or 0
        return Tokens(fresh + read + written, said, read, written)
    given, said = count(told, "input_tokens") or 0, count(told, "output_tokens") or 0
    read, written = (count(told, f"cache_{key}_input_tokens") or 0 for key in ("read", "creation"))
    return Tokens(given + read + written, said, read, written)


def is_last_count(event: Json) -> bool:
    """Return True if the token counts of a streamed event, or of a whole answer, are the final ones."""
    if "usageMetadata" in event:
        return any(text(candidate, "finishReason") for candidate in items(event, "candidates"))
    return bool(mapping(event, "usage") or mapping(event, "response", "usage"))  # not those of `message_start`


def letters_of(event: Json) -> int:
    """Return how many letters of a streamed event the model has written: text, thoughts and arguments of calls."""
    parts = [event.get("delta"), *(choice.get("delta") for choice in items(event, "choices"))]
    return sum(map(_letters, (*parts, *(candidate.get("content") for candidate in items(event, "candidates")))))


def _letters(value: object) -> int:
    if isinstance(value, dict):
        return sum(_letters(part) for name, part in value.items() if name not in _NOT_WRITTEN)
    if isinstance(value, list):
        return sum(map(_letters, value))
    return len(value) if isinstance(value, str) else 0


def _of_openai(told: Json, given: str, said: str) -> Tokens:
    details = mapping(told, f"{given}_tokens_details")
    counts = (count(told, f"{given}_tokens"), count(told, f"{said}_tokens"))
    more = (count(details, "cached_tokens"), count(details, "cache_write_tokens"))
    return Tokens(*(number or 0 for number in (*counts, *more)))


def error_words(body: bytes) -> str:
    """Return the message in an error's body; '' if it has none that can be read."""
    try:
        data = from_json(body[:MOST_BYTES])
    except ValueError:
        return ""
    first = mapping({"": data[0] if isinstance(data, list) and data else data}, "")
    message = text(mapping(first, "error"), "message")
    return excerpt(message or text(first, "message") or text(first, "Message"))  # Amazon's have no `error`


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


FRAMES = "application/vnd.amazon.eventstream"
_PRELUDE, _CHECK = 12, 4  # bytes before the headers (two lengths and a checksum), and the checksum at the end


class FramedAnswer(Answer):
    """The tokens of an answer in frames: each has the total length, the length of its headers, and a JSON payload.

    In the payload is the event itself (Converse), or in `bytes` in base64 (InvokeModel).
    """

    _frames: bytes | None = b""

    def feed(self, piece: bytes) -> None:
        """Process the next bytes. What is not in frames is not read any further."""
        if self._frames is None:
            return
        self._frames += piece
        while len(self._frames) >= _PRELUDE:
            whole, headers = (int.from_bytes(self._frames[at : at + 4], "big") for at in (0, 4))
            if not _PRELUDE + headers + _CHECK <= whole <= LONGEST:
                self._frames = None
                return
            if len(self._frames) < whole:
                return
            super().feed(_event(self._frames[_PRELUDE + headers : whole - _CHECK]) + b"\n")
            self._frames = self._frames[whole:]


def _event(payload: bytes) -> bytes:
    """Return the event in a payload, on one line."""
    try:
        data = from_json(payload)
        inner = data.get("bytes") if isinstance(data, dict) else None
        return base64.b64decode(inner) if isinstance(inner, str) else payload.replace(b"\n", b" ")
    except (ValueError, binascii.Error):
        return b""
