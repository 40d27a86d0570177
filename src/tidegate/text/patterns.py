"""Regular expressions that others wrote, searched within a limit: a hostile one must not hang a run.

Python's own `re` cannot be stopped, so the search is done by the package `regex`, which understands the same
expressions and keeps a limit of time. What counts as an expression is what `re` says.
"""

from __future__ import annotations

import re
import warnings
from functools import lru_cache

import regex

# `a{e}` is plain text for `re`, but for `regex` an `a` with errors.
_BRACE = re.compile(r"\\N\{|\\.|\{(?!\d*,?\d*\})", re.DOTALL)
_LITERAL = {"{": r"\{"}

MOST_SECONDS = 2.0  # of one search; ordinary ones need microseconds


class PatternTooSlowError(ValueError):
    """The search was given up, so nothing is known."""


def check_pattern(pattern: str) -> str:
    """The pattern itself; ValueError, saying why, if it is no regular expression."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            re.compile(pattern)
        _compiled(pattern)
    except re.error as error:
        where = "" if error.pos is None else f" at position {error.pos}"
        raise ValueError(f"is no regular expression: {error.msg}{where}") from None
    except regex.error as error:
        raise ValueError(f"is no regular expression: {error}") from None
    except (OverflowError, RecursionError, MemoryError):
        raise ValueError("is no regular expression: it is too large") from None
    return pattern


def search(pattern: str, text: str) -> regex.Match[str] | None:
    """Where the pattern is first found, as by `re.search`; PatternTooSlowError where that takes too long."""
    try:
        return _compiled(pattern).search(text, timeout=MOST_SECONDS)
    except TimeoutError:
        raise PatternTooSlowError(f"the search was given up after {MOST_SECONDS:g} s") from None


def replace(pattern: str, replacement: str, text: str) -> str:
    """As by `re.sub`, within the same limit."""
    try:
        return _compiled(pattern).sub(replacement, text, timeout=MOST_SECONDS)
    except TimeoutError:
        raise PatternTooSlowError(f"the replacement was given up after {MOST_SECONDS:g} s") from None


@lru_cache(maxsize=1024)
def _compiled(pattern: str) -> regex.Pattern[str]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of sets in sets, which have no other meaning here
        return regex.compile(_BRACE.sub(lambda found: _LITERAL.get(found[0], found[0]), pattern))
