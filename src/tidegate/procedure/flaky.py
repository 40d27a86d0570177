"""Flaky rows. Only base's trials count, so that a pull request cannot excuse its own regression (verdict.md)."""

from __future__ import annotations

from collections.abc import Iterable

TOO_LOW, AT_LEAST = 0.7, 10  # a row becomes flaky below this pass rate, over at least this many base trials
STEADY, OVER = 0.9, 20  # it stops being flaky at or above this pass rate, over this many of the latest trials


def is_flaky(past: Iterable[bool]) -> bool:
    """Return True if base passes too rarely for the row to be confirmed. `past`: base's outcomes, oldest first."""
    flaky, seen = False, list[bool]()
    for passed in past:
        seen.append(passed)
        last = seen[-OVER:]
        if len(seen) >= AT_LEAST and sum(seen) < TOO_LOW * len(seen):
            flaky = True
        if len(last) == OVER and sum(last) >= STEADY * OVER:
            flaky = False
    return flaky
