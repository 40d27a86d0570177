"""One exact test over many scenarios: the conditional Cochran-Mantel-Haenszel test, with integer weights."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from functools import cache
from math import comb
from typing import NamedTuple

from tidegate.decide.statistics.exact import Pair

HEAVIEST = 4  # largest weight of a scenario


class Stratified(NamedTuple):
    """The one-sided p, and its mid-p variant for screening."""

    p: float
    midp: float


def stratified_less(tables: Sequence[Pair], weights: Sequence[int] | None = None) -> Stratified:
    """Return the exact p for "head's weighted passes are fewer than expected", given the margins of every table.

    The null distribution is the convolution of the tables' hypergeometric distributions.
    """
    weights = weights or [1] * len(tables)
    seen = sum(weight * table.head_pass for weight, table in zip(weights, tables, strict=True))
    null = {0: 1.0}
    for weight, table in zip(weights, tables, strict=True):
        one = _hypergeometric(table.head_n, table.base_n, table.head_pass + table.base_pass)
        spread: defaultdict[int, float] = defaultdict(float)
        for total, chance in null.items():
            for passes, share in one:
                spread[total + weight * passes] += chance * share
        null = spread
    below = sum(chance for total, chance in null.items() if total < seen)
    point = null.get(seen, 0.0)
    return Stratified(min(1.0, below + point), below + point / 2)


def suite_weights(tables: Sequence[Pair]) -> list[int]:
    """Return a weight from 1 to 4 per scenario, proportional to 1/(q(1−q)) and rounded; q is its pooled pass rate.

    A drop in a scenario that almost always passes is stronger evidence than one in a scenario that varies anyway.
    """
    rates = [(t.head_pass + t.base_pass + 1) / (t.head_n + t.base_n + 2) for t in tables]
    certainty = [1 / (q * (1 - q)) for q in rates]
    return [min(HEAVIEST, max(1, round(u / min(certainty)))) for u in certainty]


@cache
def _hypergeometric(head_n: int, base_n: int, passes: int) -> tuple[tuple[int, float], ...]:
    total = comb(head_n + base_n, passes)
    possible = range(max(0, passes - base_n), min(head_n, passes) + 1)
    return tuple((x, comb(head_n, x) * comb(base_n, passes - x) / total) for x in possible)
