"""Compares the output that a document shows for a command with what the command prints. A difference is only told."""

from __future__ import annotations

import re
from difflib import SequenceMatcher

_ELISION = re.compile(r"\.\.\.|…|\[snip\]|\[truncated\]", re.IGNORECASE)
_COLOUR = re.compile(r"\x1b\[[0-9;]*m")
LONGEST = 200


def difference(shown: str, printed: str) -> str | None:
    """Return the first line that differs; None if each shown line was printed, in order.

    White space does not count. Nothing is compared after an elision (`...`).
    """
    wanted, got = _lines(shown), _lines(_COLOUR.sub("", printed))
    place = 0
    for line in wanted:
        if _ELISION.search(line):
            return None
        if line in got[place:]:
            place = got.index(line, place) + 1
            continue
        other = _nearest(line, got[place:])
        return f"shows `{line[:LONGEST]}`, " + (
            f"the tool printed `{other[:LONGEST]}`" if other else "the tool did not"
        )
    return None


def _lines(text: str) -> list[str]:
    return [" ".join(line.split()) for line in text.splitlines() if line.strip()]


def _nearest(line: str, printed: list[str]) -> str | None:
    """Return the printed line that is most like it, if it is like it at all; else the next one."""
    few = printed[:50]
    return max(few, key=lambda other: SequenceMatcher(None, line[:LONGEST], other[:LONGEST]).ratio(), default=None)
