"""Fisher's exact one-sided test of two success rates, in integer arithmetic without approximation."""

from __future__ import annotations

from functools import cache
from math import comb
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
