"""The one-shot comparison: all observed trials, tested once (verdict.md, Two stored runs)."""

from __future__ import annotations

from collections.abc import Sequence
from math import comb
from typing import NamedTuple

from tidegate.decide.statistics.exact import Pair, fisher_less, fisher_midp_less
from tidegate.decide.statistics.multiplicity import TIES, bh, holm

SCREEN = 0.25  # limit of the mid-p for "looks worse"
IMPROVED = 0.05  # false discovery rate of improvements
MOST_TRIALS = 200  # the largest number of trials that reports suggest


class Finding(NamedTuple):
    """The one-shot tests of one row: p and Holm's limit for "worse", the BH-adjusted q for "better"."""

    p: float
    limit: float
    worse: bool
    screen_hit: bool
    q_better: float

    @property
    def better(self) -> bool:
        """True if the test in the opposite direction found an improvement."""
        return self.q_better <= IMPROVED * TIES


def compare_once(pairs: Sequence[Pair], alpha: float) -> list[Finding]:
    """Test all rows together: Fisher with Holm at `alpha` for "worse", Fisher with BH at 0.05 for "better"."""
    p_values = [fisher_less(*pair) for pair in pairs]
    limits = holm(p_values, alpha)
    worse = [p <= limit * TIES for p, limit in zip(p_values, limits, strict=True)]
    screen_hits = [fisher_midp_less(*pair) <= SCREEN * TIES for pair in pairs]
    q_better = bh([fisher_less(pair.base_pass, pair.base_n, pair.head_pass, pair.head_n) for pair in pairs])
    return [Finding(*row) for row in zip(p_values, limits, worse, screen_hits, q_better, strict=True)]


def trials_to_settle(pair: Pair, limit: float) -> int | None:
    """Return the trials per side at which the observed rates would be significant; None if over 200, or no drop.

    For a drop from 100% to 0%, this is the smallest k with 1/C(2k, k) ≤ limit.
    """
    head, base = pair.head_pass / pair.head_n, pair.base_pass / pair.base_n
    for k in range(min(pair.head_n, pair.base_n) + 1, MOST_TRIALS + 1):
        if fisher_less(round(head * k), k, round(base * k), k) <= limit * TIES:
            return k
    return None


def fewest_passes(pair: Pair) -> int:
    """Return how many head trials, of the same number, have to pass so that the row does not look worse at all."""
    return next(
        passes
        for passes in range(pair.head_n + 1)
        if fisher_midp_less(passes, pair.head_n, pair.base_pass, pair.base_n) > SCREEN * TIES
    )


def power(rate: float, head_n: int, base_n: int, limit: float) -> float:
    """Return the probability that Fisher's p is within `limit` if base always passes and head passes at `rate`."""
    return sum(
        comb(head_n, x) * rate**x * (1 - rate) ** (head_n - x)
        for x in range(head_n + 1)
        if fisher_less(x, head_n, base_n, base_n) <= limit * TIES
    )
