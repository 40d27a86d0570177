"""Success rates: Fisher's exact test, intervals that also hold for few trials, and adjustment for several tests."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from math import comb, sqrt
from statistics import NormalDist
from typing import NamedTuple


class Pair(NamedTuple):
    """Passes and trials of one row on both sides; each side has at least one trial."""

    head_pass: int
    head_n: int
    base_pass: int
    base_n: int


@cache
def fisher_less(head_pass: int, head_n: int, base_pass: int, base_n: int) -> float:
    """Return Fisher's exact p for "head's rate is lower than base's": P(X ≤ head_pass), with X hypergeometric.

    X is the number of head's passes if the sides do not differ, given the passes of both sides together.
    ValueError unless 0 ≤ passes ≤ trials on each side. Source: Fisher 1935, J. R. Stat. Soc. 98, 39–82.
    """
    below, point, total = _tail(head_pass, head_n, base_pass, base_n)
    return (below + point) / total


@cache
def fisher_midp_less(head_pass: int, head_n: int, base_pass: int, base_n: int) -> float:
    """Return the mid-p: as `fisher_less`, minus half the probability of the observed table.

    It can exceed its nominal error rate, so it is used for screening only. Source: Lancaster 1961, J. Am. Stat.
    Assoc. 56, 223–234.
    """
    below, point, total = _tail(head_pass, head_n, base_pass, base_n)
    return (2 * below + point) / (2 * total)


def _tail(head_pass: int, head_n: int, base_pass: int, base_n: int) -> tuple[int, int, int]:
    """Return the numbers of tables with fewer head passes, with exactly these, and of all: integers, so no rounding."""
    if not (0 <= head_pass <= head_n and 0 <= base_pass <= base_n):
        raise ValueError(f"no table: {head_pass} of {head_n} against {base_pass} of {base_n}")
    passes = head_pass + base_pass
    below = sum(comb(head_n, x) * comb(base_n, passes - x) for x in range(head_pass))
    point = comb(head_n, head_pass) * comb(base_n, base_pass)
    return below, point, comb(head_n + base_n, passes)


Interval = tuple[float, float]


def wilson(passes: float, trials: int, confidence: float = 0.95) -> Interval:
    """Return the two-sided score interval of a success rate, 0..1 (Wilson 1927, J. Am. Stat. Assoc. 22, 209–212).

    ValueError unless 0 ≤ passes ≤ trials and trials ≥ 1. `passes` may be fractional: a tie counts as half a win.
    """
    if not 0 <= passes <= trials or trials < 1:
        raise ValueError(f"no rate: {passes} of {trials}")
    z = NormalDist().inv_cdf((1 + confidence) / 2)
    rate = passes / trials
    scale = 1 + z * z / trials
    centre = (rate + z * z / (2 * trials)) / scale
    half = z * sqrt(rate * (1 - rate) / trials + z * z / (4 * trials * trials)) / scale
    return (0.0 if passes == 0 else centre - half, 1.0 if passes == trials else centre + half)


def newcombe(head_pass: int, head_n: int, base_pass: int, base_n: int, confidence: float = 0.95) -> Interval:
    """Return the interval of head's rate − base's, −1..1, from the two Wilson intervals.

    Source: Newcombe 1998, Stat. Med. 17, 873–890, method 10.
    """
    head, base = head_pass / head_n, base_pass / base_n
    head_low, head_high = wilson(head_pass, head_n, confidence)
    base_low, base_high = wilson(base_pass, base_n, confidence)
    difference = head - base
    return (
        difference - sqrt((head - head_low) ** 2 + (base_high - base) ** 2),
        difference + sqrt((head_high - head) ** 2 + (base - base_low) ** 2),
    )


def mean_difference(
    pairs: Sequence[Pair], exact: Sequence[float] = (), confidence: float = 0.90
) -> tuple[float, Interval]:
    """Return the mean over scenarios of (head's rate − base's), with its interval. ValueError without scenarios.

    `exact`: differences of further scenarios, which have no variance. The variance of a rate is estimated with half a
    pass and half a failure more than there were, so that a few trials that all pass do not make it 0.
    """
    total = len(pairs) + len(exact)
    if not total:
        raise ValueError("no differences")
    differences = [pair.head_pass / pair.head_n - pair.base_pass / pair.base_n for pair in pairs]
    mean = (sum(differences) + sum(exact)) / total
    variance = sum(_variance(one.head_pass, one.head_n) + _variance(one.base_pass, one.base_n) for one in pairs)
    half = NormalDist().inv_cdf((1 + confidence) / 2) * sqrt(variance) / total
    return mean, (max(-1.0, mean - half), min(1.0, mean + half))


def _variance(passes: int, trials: int) -> float:
    rate = (passes + 0.5) / (trials + 1)
    return rate * (1 - rate) / trials


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
