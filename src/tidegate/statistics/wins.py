"""How often one side wins."""

from __future__ import annotations

from tidegate.statistics.rates import Interval, wilson


def win_rate(better: int, worse: int, same: int) -> tuple[float, Interval]:
    """Wins and half of the ties over all pairs, with Wilson's interval.

    A tie spreads less than a win and a loss, so the interval errs on the wide side. ValueError without any pair.
    """
    pairs = better + worse + same
    return (better + same / 2) / max(pairs, 1), wilson(better + same / 2, pairs)
