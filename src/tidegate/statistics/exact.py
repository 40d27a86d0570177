"""The exact one-sided test of two success rates: finite sums of binomial coefficients, nothing approximated."""

from __future__ import annotations

from functools import cache
from math import comb


@cache
def fisher_less(head_pass: int, head_n: int, base_pass: int, base_n: int) -> float:
    """Fisher's exact p that head's rate is lower than base's (1935): P(X ≤ head_pass), X hypergeometric.

    Given the passes of both sides together, X is how many of them fall on head when the sides do not differ.
    """
    below, point, total = _tail(head_pass, head_n, base_pass, base_n)
    return (below + point) / total


@cache
def fisher_midp_less(head_pass: int, head_n: int, base_pass: int, base_n: int) -> float:
    """The same with half of the observed table's own probability left out (Lancaster 1961): for screening only."""
    below, point, total = _tail(head_pass, head_n, base_pass, base_n)
    return (2 * below + point) / (2 * total)


def _tail(head_pass: int, head_n: int, base_pass: int, base_n: int) -> tuple[int, int, int]:
    """Tables with fewer head passes, tables with exactly these, all tables: integers, so that nothing is rounded."""
    if not (0 <= head_pass <= head_n and 0 <= base_pass <= base_n):
        raise ValueError(f"no table: {head_pass} of {head_n} against {base_pass} of {base_n}")
    passes = head_pass + base_pass
    below = sum(comb(head_n, x) * comb(base_n, passes - x) for x in range(head_pass))
    point = comb(head_n, head_pass) * comb(base_n, base_pass)
    return below, point, comb(head_n + base_n, passes)
