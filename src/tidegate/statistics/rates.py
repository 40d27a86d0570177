"""Success rates and their differences, with intervals that also hold for few trials."""

from __future__ import annotations

from collections.abc import Sequence
from math import sqrt
from statistics import NormalDist

Interval = tuple[float, float]
Difference = tuple[float, Interval]


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


def mean_difference(differences: Sequence[Difference]) -> Difference:
    """Return the mean of independent differences with its interval (MOVER: Zou & Donner 2008, Stat. Med. 27, eq. 3).

    The distance from the mean to each limit is the root of the summed squares of the parts' distances, divided by
    their number. So the intervals may be asymmetric, as Newcombe's are. ValueError if there are no differences.
    """
    if not differences:
        raise ValueError("no differences")
    n = len(differences)
    mean = sum(difference for difference, _ in differences) / n
    below = sqrt(sum((difference - low) ** 2 for difference, (low, _) in differences)) / n
    above = sqrt(sum((high - difference) ** 2 for difference, (_, high) in differences)) / n
    return mean, (mean - below, mean + above)
