"""Success rates and their differences, with intervals that also hold for few trials."""

from __future__ import annotations

from collections.abc import Sequence
from math import sqrt
from statistics import NormalDist

from tidegate.decide.statistics.exact import Pair

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
