"""Find the lines in which two texts first differ, and the part of them that differs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from difflib import SequenceMatcher
from itertools import takewhile

MOST = 300  # lines that are aligned: the time for it can grow with their number to the power of three
_Form = Callable[[str], str]
_SHORT, _BEFORE = 60, 20  # characters: a start that is equal and not longer is shown; so much of a longer one is


def first_difference(base: str, head: str, form: _Form) -> tuple[str, str]:
    """Return a line of each text: the first in which they differ; '' for a text that has none there.

    Lines are compared in `form` and without spaces at their ends; with these, and without `form`, only if all lines are
    equal so. A line that the other text has elsewhere counts only if nothing else differs. A long start that both lines
    have is left out.
    """
    for trimmed, shape in (str.strip, form), (str.rstrip, form), (str, str):
        first, second = ([trimmed(line) for line in text.splitlines()] for text in (base, head))
        start = _first_apart(first, second, shape)
        first, second = first[: start + MOST], second[: start + MOST]
        ours, theirs = [shape(line) for line in first], [shape(line) for line in second]
        common = frozenset(ours) & frozenset(theirs)
        matcher = SequenceMatcher(None, ours[start:], theirs[start:], autojunk=False)
        blocks = [found[1:] for found in matcher.get_opcodes() if found[0] != "equal"]
        for a, b, c, d in blocks:
            gone = [line for line in first[start + a : start + b] if shape(line) and shape(line) not in common]
            new = [line for line in second[start + c : start + d] if shape(line) and shape(line) not in common]
            if gone or new:
                return _parting("".join(gone[:1]), "".join(new[:1]))
        for a, _, c, _ in blocks[:1]:
            return _parting("".join(first[start:][a : a + 1]), "".join(second[start:][c : c + 1]))
    return "", ""


def _first_apart(first: Sequence[str], second: Sequence[str], shape: _Form) -> int:
    """Return the index of the first lines that differ in that shape; all that both have, if none does."""
    pairs = zip(first, second, strict=False)
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1] or shape(pair[0]) == shape(pair[1]), pairs))


def _parting(first: str, second: str) -> tuple[str, str]:
    """Return the lines without most of a long start that both have."""
    alike = sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(first, second, strict=False)))
    start = first.rfind(" ", 0, alike - _BEFORE) + 1 if alike > _SHORT else 0
    return first[start:], second[start:]
