"""Find the lines in which two texts first differ, and the part of them that differs."""

from __future__ import annotations

from collections.abc import Callable
from difflib import SequenceMatcher
from itertools import takewhile

_Form = Callable[[str], str]
_SHORT, _BEFORE = 60, 20  # characters: a start that is equal and not longer is shown; so much of a longer one is


def first_difference(base: str, head: str, form: _Form) -> tuple[str, str]:
    """Return a line of each text: the first in which they differ; '' for a text that has none there.

    Lines are compared in `form` and without spaces at their ends; with these, and without `form`, only if all lines are
    equal so. A line that the other text has elsewhere counts only if nothing else differs. A long start that both lines
    have is left out.
    """
    for trimmed, shape in _ways(form):
        first, second = ([trimmed(line) for line in text.splitlines()] for text in (base, head))
        ours, theirs = [shape(line) for line in first], [shape(line) for line in second]
        matcher = SequenceMatcher(None, ours, theirs, autojunk=False)
        blocks = [(a, b, c, d) for kind, a, b, c, d in matcher.get_opcodes() if kind != "equal"]
        for a, b, c, d in blocks:
            gone = [line for line, own in zip(first[a:b], ours[a:b], strict=True) if own and own not in theirs]
            new = [line for line, own in zip(second[c:d], theirs[c:d], strict=True) if own and own not in ours]
            if gone or new:
                return _parting("".join(gone[:1]), "".join(new[:1]))
        for a, _, c, _ in blocks[:1]:
            return _parting("".join(first[a : a + 1]), "".join(second[c : c + 1]))
    return "", ""


def _parting(first: str, second: str) -> tuple[str, str]:
    """Return the lines without the most of a long start that both have."""
    alike = sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(first, second, strict=False)))
    start = first.rfind(" ", 0, alike - _BEFORE) + 1 if alike > _SHORT else 0
    return first[start:], second[start:]


def _ways(form: _Form) -> tuple[tuple[_Form, _Form], ...]:
    return (str.strip, form), (str.rstrip, form), (str, str)
