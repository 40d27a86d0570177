"""Checks on text, for command output and file content alike."""

from __future__ import annotations

from tidegate.model.gate import Decision
from tidegate.text.patterns import PatternTooSlowError, search
from tidegate.text.shorten import excerpt


def contains(what: str, text: str, substring: str) -> Decision:
    """Pass if the text contains the substring. The message of a failure shows an excerpt of the text."""
    if substring in text:
        return Decision(passed=True, message=f"{what} contains `{excerpt(substring)}`")
    return Decision(passed=False, message=f"{what} does not contain `{excerpt(substring)}`: {_shown(text)}")


def matches(what: str, text: str, pattern: str) -> Decision:
    """Pass if the regular expression matches. The message shows the match, or an excerpt of the text."""
    try:
        found = search(pattern, text)
    except PatternTooSlowError as error:
        return Decision(passed=False, message=f"`{excerpt(pattern)}` is not decided for {what}: {error}")
    if found:
        part = f": {_shown(found[0])}" if found[0] else ""  # a match of lookaheads alone has no text
        return Decision(passed=True, message=f"{what} matches `{excerpt(pattern)}`{part}")
    return Decision(passed=False, message=f"{what} does not match `{excerpt(pattern)}`: {_shown(text)}")


def _shown(text: str) -> str:
    return f"`{shown}`" if (shown := excerpt(text)) else "it is empty"
