"""Decisions on text, the same for a command's output and a file's content."""

from __future__ import annotations

from tidegate.gates.excerpt import excerpt
from tidegate.model.gate import Decision
from tidegate.text.patterns import PatternTooSlowError, search


def contains(what: str, text: str, substring: str) -> Decision:
    """Whether the substring is in the text, with the text's excerpt if it is not."""
    if substring in text:
        return Decision(passed=True, message=f"{what} contains `{excerpt(substring)}`")
    return Decision(passed=False, message=f"{what} does not contain `{excerpt(substring)}`: {_shown(text)}")


def matches(what: str, text: str, pattern: str) -> Decision:
    """Whether the regular expression is found in the text, with what it found or the text's excerpt."""
    try:
        found = search(pattern, text)
    except PatternTooSlowError as error:
        return Decision(passed=False, message=f"`{excerpt(pattern)}` is not decided for {what}: {error}")
    if found:
        return Decision(passed=True, message=f"{what} matches `{excerpt(pattern)}`: {_shown(found[0])}")
    return Decision(passed=False, message=f"{what} does not match `{excerpt(pattern)}`: {_shown(text)}")


def _shown(text: str) -> str:
    return f"`{shown}`" if (shown := excerpt(text)) else "it is empty"
