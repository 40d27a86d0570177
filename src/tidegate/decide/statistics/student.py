"""Student's t distribution."""

from __future__ import annotations

from functools import lru_cache
from math import atan, cos, pi, sin, sqrt


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
