"""The win rate in pairwise comparisons."""

from __future__ import annotations

from tidegate.statistics.rates import Interval, wilson


def win_rate(better: int, worse: int, same: int) -> tuple[float, Interval]:
    """Return (wins + ties / 2) / pairs, 0..1, with Wilson's interval.

    A tie varies less than a win or a loss, so the interval is conservative. ValueError if there are no pairs.
    """
    pairs = better + worse + same
    return (better + same / 2) / max(pairs, 1), wilson(better + same / 2, pairs)
