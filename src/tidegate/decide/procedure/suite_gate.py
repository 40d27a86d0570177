"""Test the suite as a whole, for small drops in many rows that no single row shows (verdict.md)."""

from __future__ import annotations

from collections.abc import Generator, Sequence
from math import exp, sqrt
from statistics import NormalDist
from typing import NamedTuple

from tidegate.decide.procedure.pairs import RowTest, run_pairs
from tidegate.decide.procedure.rules import Ask, Facts
from tidegate.decide.statistics.e_process import Pairs, log_e
from tidegate.decide.statistics.rates import TIES, Pair
from tidegate.model.suite import Policy

SUSPECT = 0.15  # p of the screening from which the suite is tested on pairs
DOUBT = 0.005  # p from which it is unconfirmed, where it is not tested on pairs
OUTDATED = 0.05  # p at which base's fresh trials contradict its history
HEAVIEST = 4.0  # largest weight of a row
LIMIT = 0.005  # of the test on pairs
SHIFTS = (0.05, 0.1, 0.2)  # drops of every row that the test is aimed at
ROUNDS = 20  # most pairs of each row
FIRST = 3  # pairs of each row before the test may give up
GIVES_UP = 0.5  # evidence at which it does


class SuiteFinding(NamedTuple):
    """The result of the suite's test: p of the screening, or of the test on pairs with its `level`.

    `unconfirmed`: it looks worse, and was not tested on pairs.
    """

    p: float
    level: float | None = None
    unconfirmed: bool = False
    regressed: bool = False


Steps = Generator[Sequence[Ask], Sequence[bool | None], SuiteFinding | None]


def suite_gate(rows: Sequence[RowTest], facts: Sequence[Facts], policy: Policy) -> Steps:
    """Test the screening trials of all rows together; in `block` mode, test a hit on pairs.

    Returns None if no row has more than one screening trial and something to compare them with; without `block` mode
    also if base's fresh trials contradict its history.
    """
    if policy.suite != "block" and not history_holds(rows):
        return None
    counted = [n for n, row in enumerate(rows) if facts[n].screening > 1 and row.head[1] and row.compared_with[1]]
    if not counted:
        return None
    p = p_of_drop([Pair(*rows[n].head, *rows[n].compared_with) for n in counted])
    if p > SUSPECT or policy.suite != "block":
        return SuiteFinding(p, unconfirmed=p <= DOUBT)
    passed = {n: rows[n].compared_with for n in counted}
    evidence = yield from _paired({n: (passes + 0.5) / (trials + 1) for n, (passes, trials) in passed.items()})
    return SuiteFinding(min(1.0, 1 / max(evidence, 1e-300)), level=LIMIT, regressed=evidence * LIMIT * TIES >= 1)


def history_holds(rows: Sequence[RowTest]) -> bool:
    """Return False if base's fresh trials contradict its history over all rows: a provider may have changed."""
    paired = [(row.paired.base, row.compared_with) for row in rows if row.paired and row.paired.pairs.number]
    tables = [Pair(*fresh, *past) for fresh, past in paired if past[1]]
    return not tables or p_of_drop(tables) > OUTDATED


def p_of_drop(tables: Sequence[Pair]) -> float:
    """Return the one-sided p of head's passes over all rows: Cochran, Mantel and Haenszel's test, with weights.

    A row has a weight of 1 to HEAVIEST, by its variance: a drop is a stronger sign where nearly all trials pass.
    """
    rates = [(one.head_pass + one.base_pass + 1) / (one.head_n + one.base_n + 2) for one in tables]
    most = max(rate * (1 - rate) for rate in rates)
    below = variance = 0.0
    for (head, head_n, base, base_n), rate in zip(tables, rates, strict=True):
        passes, trials = head + base, head_n + base_n
        weight = min(HEAVIEST, most / (rate * (1 - rate)))
        below += weight * (head_n * passes / trials - head)
        variance += weight**2 * head_n * base_n * passes * (trials - passes) / (trials**2 * (trials - 1))
    return NormalDist().cdf(-below / sqrt(variance)) if variance else 1.0


def _paired(rates: dict[int, float]) -> Generator[Sequence[Ask], Sequence[bool | None], float]:
    """Run pairs of all rows, and return the evidence of all together. `rates`: how often base is expected to pass."""
    seen = dict.fromkeys(rates, Pairs())
    evidence = 1.0
    for turn in range(ROUNDS):
        for n, pair in zip(rates, (yield from run_pairs([(n, turn + 1) for n in rates], "verify")), strict=True):
            seen[n] = seen[n].plus(*pair)
        evidence = sum(exp(_log_e(seen, rates, shift)) for shift in SHIFTS) / len(SHIFTS)
        if evidence * LIMIT * TIES >= 1 or (turn + 1 >= FIRST and evidence < GIVES_UP):
            break
    return evidence


def _log_e(seen: dict[int, Pairs], rates: dict[int, float], shift: float) -> float:
    return sum(log_e(pairs, rates[n], max(rates[n] / 10, rates[n] - shift)) for n, pairs in seen.items())
