"""Long texts, cut for the record; the raw output is kept beside it."""

from __future__ import annotations

MAX_CHARACTERS = 4000


def excerpt(text: str) -> str:
    """The end of the text, where an answer or an error stands, with a note of how much is missing before it."""
    cut = len(text) - MAX_CHARACTERS
    return text if cut <= 0 else f"[{cut} characters left out]\n{text[cut:]}"


def both_ends(text: str, limit: int) -> str:
    """The beginning and the end of a text that is longer than `limit` characters, and how much is missing between."""
    if len(text) <= limit:
        return text
    half = limit // 2
    return f"{text[:half]}\n[… {len(text) - 2 * half} characters left out …]\n{text[-half:]}"
