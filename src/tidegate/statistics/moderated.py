"""Compare means of a few values in many rows. Each row's variance is moderated by those of all rows."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from itertools import product
from math import comb, exp, inf, log, sqrt
from statistics import NormalDist, fmean
from typing import NamedTuple

from tidegate.statistics.beta import beta_cdf, t_quantile
from tidegate.statistics.rates import Interval

MOST_FREEDOM = 10_000  # of the prior: more is like knowing the variance
STEP = 0.1  # standard deviations
GRID = 100  # steps of a value from 0 to 1
ENOUGH_DRAWS = 2000  # different draws with which a permutation test is fine enough
WORTH_A_LOOK = 0.05  # p of Student's t above which no other test is made
MOST_ADDED = 8  # head values whose sum is computed exactly
Groups = tuple[Sequence[float], Sequence[float]]  # head's values, base's values


class Drop(NamedTuple):
    """The difference of a row's means, head − base, its t interval, and the one-sided p for "head is lower"."""

    difference: float
    interval: Interval
    p: float


def moderated_drops(rows: Sequence[Groups], least_sd: float, confidence: float = 0.95) -> list[Drop | None]:
    """Return each row's drop; None where a side has no value, or no row has two values on a side.

    p is the larger one of Student's t and of a test that does not rely on the normal distribution: a permutation test,
    or with few values one by the shape of all rows' values. The variances share a scaled inverse chi-squared prior,
    which is estimated from all rows; none is below `least_sd` squared.
    Source: Smyth 2004, Stat. Appl. Genet. Mol. Biol. 3(1), 3.
    """
    spreads = [_variance(*row, least_sd) for row in rows]
    before, prior = _prior([(variance, freedom) for variance, freedom in spreads if freedom])
    known = [freedom + before for _, freedom in spreads]
    scales = [
        sqrt((freedom * variance + before * prior) / whole) if whole >= 1 else 0.0
        for (variance, freedom), whole in zip(spreads, known, strict=True)
    ]
    usual = sqrt(prior)
    shape = _shape(rows, [max(usual, scale) for scale in scales])
    return [
        _drop(row, (scale, max(usual, scale)), int(whole), shape, confidence) if scale and all(row) else None
        for row, scale, whole in zip(rows, scales, known, strict=True)
    ]


def _drop(
    row: Groups, scales: tuple[float, float], freedom: int, shape: Mapping[int, float], confidence: float
) -> Drop:
    (head, base), (scale, unit) = row, scales
    error = scale * sqrt(1 / len(head) + 1 / len(base))
    difference = fmean(head) - fmean(base)
    half = t_quantile((1 + confidence) / 2, freedom) * error
    p = _t_below(difference / error, freedom)
    if p <= WORTH_A_LOOK:
        fine = comb(len(head) + len(base), len(head)) >= ENOUGH_DRAWS
        of_shape = (difference / unit, len(head), len(base), shape)
        p = max(p, _p_of_draws(head, base) if fine else _p_of_shape(*of_shape))
    return Drop(difference, (difference - half, difference + half), p)


def _p_of_draws(head: Sequence[float], base: Sequence[float]) -> float:
    """Return the p of a permutation test: the share of draws of as many values whose sum is not above head's."""
    count = len(head)
    ways: list[Counter[int]] = [Counter({0: 1}), *(Counter[int]() for _ in range(count))]
    for value in (round(one * GRID) for one in (*head, *base)):
        for drawn in range(count, 0, -1):
            for total, times in ways[drawn - 1].items():
                ways[drawn][total + value] += times
    most = sum(round(one * GRID) for one in head)
    return sum(times for total, times in ways[count].items() if total <= most) / comb(len(head) + len(base), count)


def _shape(rows: Sequence[Groups], scales: Sequence[float]) -> dict[int, float]:
    """Return the distribution of one value around its mean, over all rows: steps of STEP standard deviations."""
    counts: Counter[int] = Counter()
    for sides, scale in zip(rows, scales, strict=True):
        for side in (side for side in sides if len(side) > 1 and scale):
            wider = sqrt(len(side) / (len(side) - 1)) / scale / STEP
            counts.update(round((value - fmean(side)) * wider) for value in side)
    return {step: count / counts.total() for step, count in counts.items()}


def _p_of_shape(difference: float, head: int, base: int, shape: Mapping[int, float]) -> float:
    """Return P(mean of `head` values − mean of `base` values ≤ difference), in standard deviations.

    A few head values have the shape of all rows' values, which may have a long tail; base's mean counts as normal.
    """
    total = {0: 1.0}
    for _ in range(min(head, MOST_ADDED)):
        added: defaultdict[int, float] = defaultdict(float)
        for (one, share), (step, other) in product(total.items(), shape.items()):
            added[one + step] += share * other
        total = added
    normal = NormalDist(0, 1 / sqrt(base))
    # With more values than are added, their mean lies closer to 0 by the root of the ratio.
    unit = STEP / sqrt(min(head, MOST_ADDED) * head)
    return sum(share * normal.cdf(difference - one * unit) for one, share in total.items())


def _t_below(t: float, freedom: int) -> float:
    """Return P(T ≤ t) of Student's t distribution."""
    tail = beta_cdf(freedom / (freedom + t * t), freedom / 2, 0.5) / 2 if t else 0.5
    return tail if t < 0 else 1 - tail


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
