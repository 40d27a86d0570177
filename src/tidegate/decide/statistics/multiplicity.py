"""Adjust p-values for multiple tests, so that each can be compared with the level of the whole family."""

from __future__ import annotations

from collections.abc import Sequence

TIES = 1 + 1e-9  # factor on limits, so that a p equal to its limit but for rounding is within it


def holm(p_values: Sequence[float], alpha: float) -> list[float]:
    """Return the limit of each p, in the order given: alpha/m of the lowest, alpha/(m−1) of the next, until one fails.

    All others have the limit of the first that fails. The family-wise error rate is at most `alpha`. Source: Holm 1979,
    Scand. J. Stat. 6, 65–70.
    """
    limits, left = [0.0] * len(p_values), len(p_values)
    for index in _ascending(p_values):
        limits[index] = alpha / left
        left -= left > 1 and p_values[index] <= limits[index] * TIES
    return limits


def bh(p_values: Sequence[float]) -> list[float]:
    """Return Benjamini and Hochberg's adjusted p-values, in the order given. They control the false discovery rate.

    Source: Benjamini & Hochberg 1995, J. R. Stat. Soc. B 57, 289–300.
    """
    adjusted = [0.0] * len(p_values)
    lowest = 1.0
    for rank, index in reversed(list(enumerate(_ascending(p_values), start=1))):
        lowest = min(lowest, p_values[index] * len(p_values) / rank)
        adjusted[index] = lowest
    return adjusted


def _ascending(p_values: Sequence[float]) -> list[int]:
    return sorted(range(len(p_values)), key=lambda index: p_values[index])
