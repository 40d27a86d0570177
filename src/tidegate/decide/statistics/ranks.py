"""Compare a metric between the sides, stratified by scenario: a rank test, and the mean difference."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from math import sqrt
from statistics import NormalDist, fmean

from tidegate.decide.statistics.rates import Interval
from tidegate.decide.statistics.student import t_quantile

Stratum = tuple[Sequence[float], Sequence[float]]  # one scenario: head's values, base's values


def van_elteren(strata: Sequence[Stratum]) -> float:
    """Return the one-sided p for "head's values are larger", from rank sums within each scenario, corrected for ties.

    Strata with values on one side only are ignored; 1.0 if none is left, or all values are equal.
    Source: van Elteren 1960, Bull. Int. Stat. Inst. 37, 351–361.
    """
    above = variance = 0.0
    for head, base in strata:
        if not (head and base):
            continue
        both = [*head, *base]
        n, weight = len(both), 1 / (len(both) + 1)
        rank = _mid_ranks(both)
        above += weight * (sum(rank[value] for value in head) - len(head) * (n + 1) / 2)
        ties = sum(count**3 - count for count in Counter(both).values())
        variance += weight**2 * len(head) * len(base) / 12 * (n + 1 - ties / (n * (n - 1)))
    return 1 - NormalDist().cdf(above / sqrt(variance)) if variance > 1e-12 else 1.0


def mean_shift(strata: Sequence[Stratum], confidence: float = 0.95) -> tuple[float, Interval | None] | None:
    """Return the mean over scenarios of (head's mean − base's mean), with a t interval, in the metric's unit.

    The interval uses the pooled variance within scenarios and sides; it is None if no side has two values.
    None if no scenario has values on both sides.
    """
    shifts, scatter, freedom, spread = [], 0.0, 0, 0.0
    for head, base in strata:
        if not (head and base):
            continue
        shifts.append(fmean(head) - fmean(base))
        scatter += sum((value - fmean(side)) ** 2 for side in (head, base) for value in side)
        freedom += len(head) + len(base) - 2
        spread += 1 / len(head) + 1 / len(base)
    if not shifts:
        return None
    shift = fmean(shifts)
    if freedom < 1:
        return shift, None
    half = t_quantile((1 + confidence) / 2, freedom) * sqrt(scatter / freedom * spread) / len(shifts)
    return shift, (shift - half, shift + half)


def _mid_ranks(values: Sequence[float]) -> dict[float, float]:
    """Return the rank of each value, from 1; equal values share the mean of their ranks."""
    ranks: dict[float, float] = {}
    below = 0
    for value, count in sorted(Counter(values).items()):
        ranks[value] = below + (count + 1) / 2
        below += count
    return ranks
