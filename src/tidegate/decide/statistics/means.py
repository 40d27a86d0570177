"""Compare means of few values: Student's t, ranks within scenarios, and variances that are moderated by all rows."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Mapping, Sequence
from functools import cache, lru_cache, partial
from itertools import product
from math import atan, cos, pi, sin, sqrt
from statistics import NormalDist, fmean
from typing import NamedTuple

from tidegate.decide.statistics.rates import Interval


def t_above(t: float, freedom: int) -> float:
    """Return P(T ≥ t) of Student's t distribution with `freedom` ≥ 1 degrees of freedom.

    Source: Abramowitz & Stegun 1964, 26.7.3 and 26.7.4.
    """
    angle = atan(t / sqrt(freedom))
    square, odd = cos(angle) ** 2, freedom % 2
    term = total = 1.0 if freedom > 1 else 0.0
    for k in range(2 + odd, freedom - 1, 2):
        term *= square * (k - 1) / k
        total += term
    within = (angle + sin(angle) * cos(angle) * total) * 2 / pi if odd else sin(angle) * total
    return max(0.0, (1 - within) / 2)


@lru_cache(1000)
def t_quantile(probability: float, freedom: int) -> float:
    """Return the quantile of Student's t distribution with `freedom` ≥ 1 degrees of freedom, by bisection."""
    if probability < 0.5:
        return -t_quantile(1 - probability, freedom)
    low, high = 0.0, 1.0
    while t_above(high, freedom) > 1 - probability:
        low, high = high, 2 * high
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if t_above(middle, freedom) > 1 - probability else (low, middle)
    return (low + high) / 2


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


SHARED = 30  # most degrees of freedom that the variance of all rows counts with, beside a row's own
WORTH_A_LOOK = 0.05  # p of Student's t above which no other p is computed
MOST_DRAWN = 8  # values of head whose sums are counted; means of more, and of base, are taken as normal
GRID = 20  # steps of one standard deviation
Side = Sequence[float]
Groups = tuple[Side, Side]  # head's values, base's values
Chances = Mapping[int, float]  # a sum, in steps → its probability


class Drop(NamedTuple):
    """The difference of a row's means, head − base, its t interval, and the one-sided p for "head is lower"."""

    difference: float
    interval: Interval
    p: float


def moderated_drops(rows: Sequence[Groups], least_sd: float, confidence: float = 0.95) -> list[Drop | None]:
    """Return each row's drop; None where a side has no value, or no row has two values on a side.

    The statistic is Student's t, with a variance between the row's own and that of all rows (after Smyth 2004, Stat.
    Appl. Genet. Mol. Biol. 3(1), 3), at least `least_sd` squared. As values need not be normally distributed, p is at
    least the probability of as low a difference if head's values were drawn from the residuals of all rows.
    """
    owns = [sum(max(0, len(side) - 1) for side in row) for row in rows]
    freedoms = [own + min(SHARED, sum(owns) - own) for own in owns]
    if not any(owns):
        return [None] * len(rows)
    squares = [sum(one * one for side in row for one in _residuals(side)) for row in rows]
    shared = sum(squares) / sum(owns)
    variances = [
        max(least_sd**2, (square + (freedom - own) * shared) / freedom)
        for square, own, freedom in zip(squares, owns, freedoms, strict=True)
    ]
    sds = [sqrt(variance) for variance in variances]
    sums = cache(partial(_sums, _pool(rows, sds)))
    known = zip(rows, sds, freedoms, strict=True)
    return [_drop(*row, sd, freedom, sums, confidence) if all(row) else None for row, sd, freedom in known]


def _drop(head: Side, base: Side, sd: float, freedom: int, sums: Callable[[int], Chances], confidence: float) -> Drop:
    difference, error = fmean(head) - fmean(base), sd * sqrt(1 / len(head) + 1 / len(base))
    p = t_above(-difference / error, freedom)
    if p <= WORTH_A_LOOK and len(head) <= MOST_DRAWN:
        of_base, drawn = NormalDist(0, 1 / sqrt(len(base))), sums(len(head)).items()
        p = max(p, sum(chance * of_base.cdf(difference / sd - total / GRID / len(head)) for total, chance in drawn))
    half = t_quantile((1 + confidence) / 2, freedom) * error
    return Drop(difference, (difference - half, difference + half), p)


def _pool(rows: Sequence[Groups], sds: Sequence[float]) -> Chances:
    """Return how probable each residual is, in steps of its row's deviation, as far apart as in a population."""
    sides = [(side, sd) for row, sd in zip(rows, sds, strict=True) for side in row if len(side) > 1]
    found = Counter(
        round(GRID * one * sqrt(len(side) / (len(side) - 1)) / sd) for side, sd in sides for one in _residuals(side)
    )
    return {value: times / found.total() for value, times in found.items()}


def _sums(values: Chances, drawn: int) -> Chances:
    """Return the probability of each sum of so many values, drawn with replacement."""
    sums = {0: 1.0}
    for _ in range(drawn):
        more: defaultdict[int, float] = defaultdict(float)
        for (total, chance), (value, share) in product(sums.items(), values.items()):
            more[total + value] += chance * share
        sums = more
    return sums


def _residuals(side: Side) -> list[float]:
    """Return the values' distances from their mean; none of a single value."""
    mean = fmean(side) if side else 0.0
    return [one - mean for one in side] if len(side) > 1 else []
