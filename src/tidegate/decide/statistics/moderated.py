"""Compare means of a few values in many rows. Each row's variance is moderated by those of all rows."""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter
from collections.abc import Sequence
from itertools import accumulate
from math import comb, exp, inf, log, sqrt
from statistics import fmean
from typing import NamedTuple

from tidegate.decide.statistics.beta import t_above, t_quantile
from tidegate.decide.statistics.rates import Interval

MOST_FREEDOM = 10_000  # of the prior: more is like knowing the variance
GRID = 100  # steps of a value from 0 to 1
ENOUGH_DRAWS = 200  # different draws with which a permutation test of one row is fine enough
WORTH_A_LOOK = 0.05  # p of Student's t above which no other test is made
MOST_DRAWN = 8  # values of the smaller side whose draws are counted; means of more are nearly normal
SLACK = 1e-9  # of rounding
Groups = tuple[Sequence[float], Sequence[float]]  # head's values, base's values


class Drop(NamedTuple):
    """The difference of a row's means, head − base, its t interval, and the one-sided p for "head is lower"."""

    difference: float
    interval: Interval
    p: float


def moderated_drops(rows: Sequence[Groups], least_sd: float, confidence: float = 0.95) -> list[Drop | None]:
    """Return each row's drop; None where a side has no value, or no row has two values on a side.

    The statistic is Student's t with a moderated variance: the rows' variances share a scaled inverse chi-squared
    prior, which is estimated from all rows; none is below `least_sd` squared. p does not rely on the normal
    distribution alone: it is at least the share of draws, over all rows, in which t would be as low. Draws of the row
    itself permute its values; draws of the other rows permute their residuals, so that their drops do not count as
    chance. Sources: Smyth 2004, Stat. Appl. Genet. Mol. Biol. 3(1), 3; Tusher and others 2001, PNAS 98(9), 5116.
    """
    spreads = [_variance(*row, least_sd) for row in rows]
    prior = _Prior(*_prior([(variance, freedom) for variance, freedom in spreads if freedom]), least_sd)
    places = [n for n, (row, (_, freedom)) in enumerate(zip(rows, spreads, strict=True)) if prior.knows(row, freedom)]
    tested = [_Tested.of(rows[place], *spreads[place], prior) for place in places]
    ps = [t_above(-row.t, row.freedom) for row in tested]
    if min(ps, default=1.0) <= WORTH_A_LOOK:
        chance = [_Draws.of(_residuals(row.values), row.freedom, prior) for row in tested]
        ps = [p if p > WORTH_A_LOOK else _p(n, tested, chance, prior) for n, p in enumerate(ps)]
    found: list[Drop | None] = [None] * len(rows)
    for place, row, p in zip(places, tested, ps, strict=True):
        half = t_quantile((1 + confidence) / 2, row.freedom) * row.error
        found[place] = Drop(row.difference, (row.difference - half, row.difference + half), p)
    return found


class _Prior(NamedTuple):
    """What all rows tell about the variance of one: as much as `freedom` degrees of freedom with `variance` would."""

    freedom: float
    variance: float
    least_sd: float

    def knows(self, row: Groups, freedom: int) -> bool:
        """Return True if the row has values on both sides and a variance can be had."""
        return all(row) and freedom + self.freedom >= 1

    def scale(self, variance: float, freedom: int) -> float:
        """Return the moderated standard deviation of a row."""
        own = max(variance, self.least_sd**2)
        return sqrt((freedom * own + self.freedom * self.variance) / (freedom + self.freedom))


class _Tested(NamedTuple):
    """A row's values with its test: t = difference / error."""

    values: Groups
    difference: float
    error: float
    freedom: int

    @property
    def t(self) -> float:
        return self.difference / self.error

    @classmethod
    def of(cls, row: Groups, variance: float, freedom: int, prior: _Prior) -> _Tested:
        head, base = row
        error = prior.scale(variance, freedom) * sqrt(1 / len(head) + 1 / len(base))
        return cls(row, fmean(head) - fmean(base), error, int(freedom + prior.freedom))


class _Draws(NamedTuple):
    """All values that t can take by drawing head's values from both sides', ascending, with their cumulative shares.

    Without them, t has Student's distribution.
    """

    freedom: int
    values: Sequence[float] = ()
    shares: Sequence[float] = ()

    @classmethod
    def of(cls, row: Groups, freedom: int, prior: _Prior) -> _Draws:
        """Return the draws, by counting the sums of the smaller side; t depends on them alone."""
        head, base = row
        drawn, count = min(len(head), len(base)), len(head) + len(base)
        if drawn > MOST_DRAWN:
            return cls(freedom)
        values = [round(one * GRID) for one in (*head, *base)]
        whole, squares = sum(values) / GRID, sum(one * one for one in values) / GRID**2
        counted: list[tuple[float, int]] = []
        for total, times in _sums(values, drawn).items():
            small, large = total / GRID / drawn, (whole - total / GRID) / (count - drawn)
            scatter = max(0.0, squares - drawn * small**2 - (count - drawn) * large**2)
            variance = scatter / (count - 2) if count > 2 else 0.0
            error = prior.scale(variance, count - 2) * sqrt(1 / drawn + 1 / (count - drawn))
            counted.append(((small - large if len(head) == drawn else large - small) / error, times))
        counted.sort()
        ways = comb(count, drawn)
        return cls(freedom, [t for t, _ in counted], [n / ways for n in accumulate(times for _, times in counted)])

    def below(self, t: float) -> float:
        """Return P(T ≤ t)."""
        if not self.values:
            return t_above(-t, self.freedom)
        place = bisect_right(self.values, t + SLACK)
        return self.shares[place - 1] if place else 0.0


def _p(number: int, rows: Sequence[_Tested], chance: Sequence[_Draws], prior: _Prior) -> float:
    """Return p of a row by Student's t and by the draws of all rows, whichever is larger."""
    row = rows[number]
    own = student = t_above(-row.t, row.freedom)
    head, base = row.values
    if comb(len(head) + len(base), len(head)) >= ENOUGH_DRAWS:
        own = max(own, _Draws.of(row.values, row.freedom, prior).below(row.t))
    others = sum(draws.below(row.t) for place, draws in enumerate(chance) if place != number)
    return max(student, (own + others) / len(rows))


def _residuals(row: Groups) -> Groups:
    """Return both sides' values around their means, as far apart as those of the whole population."""
    head, base = ([(one - fmean(side)) * _wider(len(side)) for one in side] for side in row)
    return head, base


def _wider(count: int) -> float:
    return sqrt(count / (count - 1)) if count > 1 else 1.0


def _sums(values: Sequence[int], drawn: int) -> Counter[int]:
    """Return in how many ways `drawn` of the values have each sum."""
    ways: list[Counter[int]] = [Counter({0: 1}), *(Counter[int]() for _ in range(drawn))]
    for value in values:
        for number in range(drawn, 0, -1):
            for total, times in ways[number - 1].items():
                ways[number][total + value] += times
    return ways[drawn]


def _variance(head: Sequence[float], base: Sequence[float], least_sd: float) -> tuple[float, int]:
    """Return the pooled variance within the two sides, and its degrees of freedom."""
    freedom = max(0, len(head) - 1) + max(0, len(base) - 1)
    scatter = sum((value - fmean(side)) ** 2 for side in (head, base) for value in side)
    return max(scatter / freedom if freedom else 0.0, least_sd**2), freedom


def _prior(spreads: Sequence[tuple[float, int]]) -> tuple[float, float]:
    """Return degrees of freedom and variance of the prior, by the moments of the logarithms of the variances."""
    if not spreads:
        return 0.0, 0.0
    logs = [log(variance) - _digamma(freedom / 2) + log(freedom / 2) for variance, freedom in spreads]
    mean = fmean(logs)
    expected = fmean(_trigamma(freedom / 2) for _, freedom in spreads)
    excess = sum((one - mean) ** 2 for one in logs) / (len(logs) - 1) - expected if len(logs) > 1 else inf
    if excess == inf:  # one row tells nothing about how rows differ
        return 0.0, 0.0
    if excess <= _trigamma(MOST_FREEDOM / 2):
        return MOST_FREEDOM, exp(mean)
    half = _trigamma_inverse(excess)
    return 2 * half, exp(mean + _digamma(half) - log(half))


def _digamma(x: float) -> float:
    """Return the derivative of log Γ at x > 0, by recurrence and its asymptotic series (DLMF 5.11.2)."""
    below = 0.0
    while x < 8:
        below -= 1 / x
        x += 1
    return below + log(x) - 1 / (2 * x) - 1 / (12 * x**2) + 1 / (120 * x**4) - 1 / (252 * x**6)


def _trigamma(x: float) -> float:
    """Return the second derivative of log Γ at x > 0."""
    below = 0.0
    while x < 8:
        below += 1 / x**2
        x += 1
    return below + 1 / x + 1 / (2 * x**2) + 1 / (6 * x**3) - 1 / (30 * x**5) + 1 / (42 * x**7)


def _trigamma_inverse(y: float) -> float:
    """Return x > 0 with trigamma(x) = y, by bisection of its logarithm; trigamma falls steadily."""
    low, high = log(1e-6), log(1e9)
    for _ in range(100):
        middle = (low + high) / 2
        low, high = (middle, high) if _trigamma(exp(middle)) > y else (low, middle)
    return exp(low)
