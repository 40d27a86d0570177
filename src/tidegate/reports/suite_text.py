"""The sentence on success over the whole suite."""

from __future__ import annotations

from collections.abc import Sequence

from tidegate.model.comparison import Row, SuiteEffect
from tidegate.reports.filters import interval, percent, points, to


def suite_text(suite: SuiteEffect, measured: Sequence[Row]) -> str:
    """Return the sentence; '' if there is nothing to report, or if it repeats what the rows show.

    An interval is for rates that chance can move: deterministic rows have none.
    """
    if suite.difference is None:
        return ""
    chance = not all(row.deterministic for row in measured)
    if not suite.difference and not chance:
        return ""
    ends = suite.interval if chance else None
    spread = f"90% interval {interval(ends)}" if ends and ends[0] != ends[1] else ""
    if not suite.difference:
        return f"Success over the suite: {percent(suite.head_rate)} on both sides{spread and f' ({spread} points)'}."
    rates = to(percent(suite.base_rate), percent(suite.head_rate))
    return f"Success over the suite: {rates} ({', '.join(filter(None, (points(suite.difference), spread)))})."
