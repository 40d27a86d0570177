"""A metric on both sides, trial by trial within each scenario: is head's larger, and by how much?"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from math import sqrt
from statistics import NormalDist, fmean

from tidegate.statistics.beta import t_quantile
from tidegate.statistics.rates import Interval

Stratum = tuple[Sequence[float], Sequence[float]]  # head's values, base's


def van_elteren(strata: Sequence[Stratum]) -> float:
    """One-sided p that head's values are larger: rank sums by scenario (van Elteren 1960), ties corrected.

    Strata without a value on one of the sides say nothing; 1 where nothing can be said.
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
    """The mean over scenarios of head's mean − base's, with its t interval from the pooled variance within scenarios.

    None where no scenario has values on both sides; no interval where no scenario has two values on a side.
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
    """The rank of each value from 1; equal values share the mean of theirs."""
    ranks: dict[float, float] = {}
    below = 0
    for value, count in sorted(Counter(values).items()):
        ranks[value] = below + (count + 1) / 2
        below += count
    return ranks
