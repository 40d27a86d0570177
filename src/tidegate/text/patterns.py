r"""Searches untrusted regular expressions with a time limit, so that a hostile pattern cannot hang a run.

Python's `re` cannot be interrupted. The search uses the `regex` package, which supports a timeout and accepts the
same syntax. `re` decides which patterns are valid; classes such as `\p{L}`, which Rust has too, are allowed as well.
"""

from __future__ import annotations

import re
import warnings
from functools import lru_cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import regex

# `a{e}` is literal text in `re`, but a fuzzy match of `a` in `regex`, so such braces are escaped.
_BRACE = re.compile(r"\\N\{|\\[pP]\{|\\.|\{(?!\d*,?\d*\})", re.DOTALL)
_CLASS = re.compile(r"\\[pP](?:\{\^?[\w=:-]+\}|[A-Z])|\\.", re.DOTALL)  # of Unicode, or another escape
_LITERAL = {"{": r"\{"}

MOST_SECONDS = 2.0  # per search; ordinary searches take microseconds


class PatternTooSlowError(ValueError):
    """The search exceeded its time limit; its result is unknown."""


def check_pattern(pattern: str) -> str:
    """Return the pattern; raise ValueError with the reason if it is not a valid regular expression."""
    import regex  # it takes 10 ms, and many suites have no pattern

    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            re.compile(_CLASS.sub(lambda found: r"\w" if found[0][1] in "pP" else found[0], pattern))
        _compiled(pattern)
    except re.error as error:
        where = "" if error.pos is None else f" at position {error.pos}"
        raise ValueError(f"is not a regular expression: {error.msg}{where}") from None
    except regex.error as error:
        raise ValueError(f"is not a regular expression: {error}") from None
    except (OverflowError, RecursionError, MemoryError):
        raise ValueError("is not a regular expression: it is too large") from None
    return pattern


def search(pattern: str, text: str) -> regex.Match[str] | None:
    """Return the first match, like `re.search`. Raises PatternTooSlowError after MOST_SECONDS."""
    try:
        return _compiled(pattern).search(text, timeout=MOST_SECONDS)
    except TimeoutError:
        raise PatternTooSlowError(f"the search was given up after {MOST_SECONDS:g} s") from None


@lru_cache(maxsize=1024)
def _compiled(pattern: str) -> regex.Pattern[str]:
    import regex  # 10 ms

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # about nested sets: `re` accepts the pattern, so the warning is irrelevant
        return regex.compile(_BRACE.sub(lambda found: _LITERAL.get(found[0], found[0]), pattern))
