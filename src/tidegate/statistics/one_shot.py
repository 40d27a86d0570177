"""The one-shot comparison: everything that was seen, tested once (verdict.md, How it is built)."""

from __future__ import annotations

from collections.abc import Sequence
from math import comb
from typing import NamedTuple

from tidegate.statistics.exact import fisher_less, fisher_midp_less
from tidegate.statistics.multiplicity import bh, holm

TIES = 1 + 1e-9  # equal but for rounding counts as equal
SCREEN = 0.25  # tau_last without history
IMPROVED = 0.05  # level of the mirrored test's BH
MOST_TRIALS = 200  # beyond that no number of trials is suggested


class Pair(NamedTuple):
    """What one row showed on both sides; each side has at least one trial."""

    head_pass: int
    head_n: int
    base_pass: int
    base_n: int


class Finding(NamedTuple):
    """What the one-shot tests say of one row: p with Holm's limit for worse, the BH-adjusted q for better."""

    p: float
    limit: float
    worse: bool
    screen_hit: bool
    q_better: float

    @property
    def better(self) -> bool:
        """The mirrored test found an improvement."""
        return self.q_better <= IMPROVED * TIES


def compare_once(pairs: Sequence[Pair], alpha: float) -> list[Finding]:
    """Test all rows of a run together: Fisher + Holm at `alpha` for worse, the mirror with BH .05 for better."""
    p_values = [fisher_less(*pair) for pair in pairs]
    worse = [adjusted <= alpha * TIES for adjusted in holm(p_values)]
    limits = _limits(p_values, worse, alpha)
    screen_hits = [fisher_midp_less(*pair) <= SCREEN * TIES for pair in pairs]
    q_better = bh([fisher_less(pair.base_pass, pair.base_n, pair.head_pass, pair.head_n) for pair in pairs])
    return [Finding(*row) for row in zip(p_values, limits, worse, screen_hits, q_better, strict=True)]


def _limits(p_values: Sequence[float], rejected: Sequence[bool], alpha: float) -> list[float]:
    """What Holm compared each p with: alpha/m, alpha/(m−1), … for the rejected; the next one for all others."""
    m, before, limits = len(p_values), sum(rejected), [0.0] * len(p_values)
    ranked = sorted(range(m), key=lambda index: (not rejected[index], p_values[index]))
    for rank, index in enumerate(ranked):
        limits[index] = alpha / (m - min(rank, before))
    return limits


def trials_to_settle(pair: Pair, limit: float) -> int | None:
    """Trials a side at which the rates seen would be significant, if they stay; None: more than 200, or no drop.

    For a scenario that went from all to none, this is the smallest k with 1/C(2k, k) ≤ limit.
    """
    head, base = pair.head_pass / pair.head_n, pair.base_pass / pair.base_n
    for k in range(min(pair.head_n, pair.base_n) + 1, MOST_TRIALS + 1):
        if fisher_less(round(head * k), k, round(base * k), k) <= limit * TIES:
            return k
    return None


def fewest_passes(pair: Pair) -> int:
    """How many of as many head trials have to pass for the row not even to be a screen hit."""
    return next(
        passes
        for passes in range(pair.head_n + 1)
        if fisher_midp_less(passes, pair.head_n, pair.base_pass, pair.base_n) > SCREEN * TIES
    )


def power(rate: float, head_n: int, base_n: int, limit: float) -> float:
    """Probability that Fisher's p is within `limit` when base always passes and head with probability `rate`."""
    return sum(
        comb(head_n, x) * rate**x * (1 - rate) ** (head_n - x)
        for x in range(head_n + 1)
        if fisher_less(x, head_n, base_n, base_n) <= limit * TIES
    )
