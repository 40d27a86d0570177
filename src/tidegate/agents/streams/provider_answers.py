"""Read answers of model providers: token counts and error messages of Anthropic, OpenAI, Google and Amazon."""

from __future__ import annotations

from typing import NamedTuple

from pydantic_core import from_json

from tidegate.agents.streams.json_values import Json, count, items, mapping, text
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
