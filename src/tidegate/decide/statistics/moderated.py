"""Compare means of a few values in many rows. Each row's variance is moderated by that of all rows."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Mapping, Sequence
from functools import cache, partial
from itertools import product
from math import sqrt
from statistics import NormalDist, fmean
from typing import NamedTuple

from tidegate.decide.statistics.rates import Interval
from tidegate.decide.statistics.student import t_above, t_quantile

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
