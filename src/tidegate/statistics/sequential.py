"""An exact sequential test: Fisher's p is checked after every head trial (verdict.md)."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from functools import lru_cache
from math import comb

from tidegate.statistics.exact import fisher_less

TIES = 1 + 1e-9  # factor on limits, so that a p equal to its limit but for rounding is within it
GRID = (*(i / 40 for i in range(1, 40)), 0.9875, 0.995)  # success rates common to both sides that are tried
Look = tuple[int, int]  # head trials, base trials
_Ways = dict[tuple[int, int], int]


@lru_cache(maxsize=100_000)
def p_seq(smallest: float, looks: tuple[Look, ...]) -> float:
    """Return the probability that Fisher's p is at most `smallest` at any of the looks if the sides do not differ.

    The common success rate is unknown, so this is the maximum over GRID. A path ends at the first look whose p is
    small enough. Paths are counted in integers; only the probability of each path is rounded.
    """
    hits = tuple((passes, trials - passes, ways) for (passes, trials), ways in _first_hits(smallest, looks).items())
    return max(sum(ways * rate**passes * (1 - rate) ** fails for passes, fails, ways in hits) for rate in GRID)


def _first_hits(smallest: float, looks: tuple[Look, ...]) -> _Ways:
    """Return the number of paths that end at each (passes, trials), counted over both sides together."""
    limit = smallest * TIES
    hits: defaultdict[tuple[int, int], int] = defaultdict(int)
    going: _Ways = {(0, 0): 1}
    before = (0, 0)
    for head_n, base_n in looks:
        steps = tuple(_steps(head_n - before[0], base_n - before[1]))
        reached: defaultdict[tuple[int, int], int] = defaultdict(int)
        for (head, base), ways in going.items():
            for more_head, more_base, choices in steps:
                reached[head + more_head, base + more_base] += ways * choices
        going = {}
        for (head, base), ways in reached.items():
            if fisher_less(head, head_n, base, base_n) <= limit:
                hits[head + base, head_n + base_n] += ways
            else:
                going[head, base] = ways
        before = head_n, base_n
    return hits


def _steps(head_n: int, base_n: int) -> Iterator[tuple[int, int, int]]:
    """Yield each (head passes, base passes) of so many further trials, with the number of orders that give it."""
    for head in range(head_n + 1):
        for base in range(base_n + 1):
            yield head, base, comb(head_n, head) * comb(base_n, base)
