"""Flaky rows: measured on base alone, so that no pull request can excuse its own regression (verdict.md)."""

from __future__ import annotations

from collections.abc import Iterable

TOO_LOW, AT_LEAST = 0.7, 10  # begins: passes less often, over so many base trials or more
STEADY, OVER = 0.9, 20  # ends: as often or more, over the last so many


def is_flaky(past: Iterable[bool]) -> bool:
    """Whether base passes too seldom for the row to be confirmed by itself; `past`: base's trials, the oldest first."""
    flaky, seen = False, list[bool]()
    for passed in past:
        seen.append(passed)
        last = seen[-OVER:]
        if len(seen) >= AT_LEAST and sum(seen) < TOO_LOW * len(seen):
            flaky = True
        if len(last) == OVER and sum(last) >= STEADY * OVER:
            flaky = False
    return flaky
