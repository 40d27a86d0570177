"""The beta distribution, and what follows from it: the beta-binomial, quantiles of Student's t."""

from __future__ import annotations

from functools import lru_cache
from math import exp, lgamma, log, log1p, sqrt

_ENOUGH = 1e-15
_TINY = 1e-300
_MOST_TERMS = 500


@lru_cache(1000)
def t_quantile(probability: float, freedom: int) -> float:
    """Return the quantile of Student's t distribution with `freedom` ≥ 1 degrees of freedom."""
    if probability < 0.5:
        return -t_quantile(1 - probability, freedom)
    # If T is Student's t with v degrees of freedom, v / (v + T²) is Beta(v/2, ½).
    share = beta_quantile(2 * (1 - probability), freedom / 2, 0.5)
    return sqrt(freedom * (1 - share) / share)


def t_above(t: float, freedom: int) -> float:
    """Return P(T ≥ t) of Student's t distribution with `freedom` ≥ 1 degrees of freedom."""
    tail = beta_cdf(freedom / (freedom + t * t), freedom / 2, 0.5) / 2 if t else 0.5
    return tail if t >= 0 else 1 - tail


def beta_quantile(probability: float, a: float, b: float) -> float:
    """Return the quantile of Beta(a, b), found by bisection to floating-point precision."""
    low, high = 0.0, 1.0
    for _ in range(200):
        middle = (low + high) / 2
        if middle in (low, high):
            break
        if beta_cdf(middle, a, b) < probability:
            low = middle
        else:
            high = middle
    return (low + high) / 2


def beta_cdf(x: float, a: float, b: float) -> float:
    """Return P(X ≤ x) of Beta(a, b): the regularised incomplete beta function, by continued fraction (DLMF 8.17.22)."""
    if x <= 0 or x >= 1:
        return 0.0 if x <= 0 else 1.0
    if x > (a + 1) / (a + b + 2):  # the fraction converges fast only below this point; use the symmetry above it
        return 1 - beta_cdf(1 - x, b, a)
    return exp(a * log(x) + b * log1p(-x) - _log_beta(a, b)) / a * _fraction(x, a, b)


def _fraction(x: float, a: float, b: float) -> float:
    """Evaluate the continued fraction with the modified Lentz algorithm, two terms per step."""
    c, d = 1.0, 1 / _not_zero(1 - (a + b) * x / (a + 1))
    value = d
    for m in range(1, _MOST_TERMS):
        even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m))
        odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1))
        for term in (even, odd):
            d = 1 / _not_zero(1 + term * d)
            c = _not_zero(1 + term / c)
            value *= c * d
        if abs(c * d - 1) < _ENOUGH:
            break
    return value


def _not_zero(value: float) -> float:
    return value if abs(value) > _TINY else _TINY


def _log_beta(a: float, b: float) -> float:
    return lgamma(a) + lgamma(b) - lgamma(a + b)
