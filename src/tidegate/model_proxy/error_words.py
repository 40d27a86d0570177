"""Read the error message of a refused request: Anthropic, OpenAI and Google."""

from __future__ import annotations

from pydantic_core import from_json

from tidegate.streams.json_values import mapping, text
from tidegate.text.shorten import excerpt

MOST_BYTES = 1 << 16  # of an error's body that are read


def error_words(body: bytes) -> str:
    """Return the message in an error's body; '' if it has none that can be read."""
    try:
        data = from_json(body[:MOST_BYTES])
    except ValueError:
        return ""
    first = data[0] if isinstance(data, list) and data else data
    return excerpt(text(mapping(first, "error"), "message"))
