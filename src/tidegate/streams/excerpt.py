"""Cut long texts for the record. The raw output is kept separately."""

from __future__ import annotations

MAX_CHARACTERS = 4000


def excerpt(text: str) -> str:
    """Return the end of the text, where an answer or error usually is, with a note of how much is cut before it."""
    cut = len(text) - MAX_CHARACTERS
    return text if cut <= 0 else f"[{cut} characters left out]\n{text[cut:]}"


def both_ends(text: str, limit: int) -> str:
    """Return the start and end of a text longer than `limit` characters, with a note of how much is cut between."""
    if len(text) <= limit:
        return text
    half = limit // 2
    return f"{text[:half]}\n[… {len(text) - 2 * half} characters left out …]\n{text[-half:]}"
