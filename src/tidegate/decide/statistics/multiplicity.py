"""Adjust p-values for multiple tests, so that each can be compared with the level of the whole family."""

from __future__ import annotations

from collections.abc import Sequence


def holm(p_values: Sequence[float]) -> list[float]:
    """Return Holm's step-down adjusted p-values, in the order given. They control the family-wise error rate.

    Source: Holm 1979, Scand. J. Stat. 6, 65–70.
    """
    adjusted = [0.0] * len(p_values)
    highest = 0.0
    for rank, index in enumerate(_ascending(p_values)):
        highest = max(highest, (len(p_values) - rank) * p_values[index])
        adjusted[index] = min(1.0, highest)
    return adjusted


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
