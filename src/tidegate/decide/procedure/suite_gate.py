"""Test the suite as a whole, for small drops in many rows that no single row shows (verdict.md)."""

from __future__ import annotations

from collections.abc import Generator, Sequence
from math import exp
from typing import NamedTuple

from tidegate.decide.procedure.pairs import RowTest
from tidegate.decide.procedure.rules import TIES, Ask, Facts
from tidegate.decide.statistics.e_process import Pairs, log_e
from tidegate.decide.statistics.exact import Pair
from tidegate.decide.statistics.stratified import stratified_less, suite_weights
from tidegate.model.suite import Policy
from tidegate.model.trial_spec import Side

SUSPECT = 0.15  # mid-p of the screening from which the suite is tested on pairs
DOUBT = 0.01  # mid-p from which it is unconfirmed, where it is not tested on pairs
OUTDATED = 0.05  # mid-p at which base's fresh trials contradict its history
LIMIT = 0.005  # of the test on pairs
SHIFTS = (0.05, 0.1, 0.2)  # drops of every row that the test is aimed at
ROUNDS = 20  # most pairs of each row
FIRST = 3  # pairs of each row before the test may give up
GIVES_UP = 0.5  # evidence at which it does


class SuiteFinding(NamedTuple):
    """The result of the suite's test, by mid-p of the screening; `p`, `level`: of the test on pairs.

    `hit`: in `block` mode it is tested on pairs. `unconfirmed`: it looks worse, and was not tested so.
    """

    midp: float
    hit: bool
    unconfirmed: bool = False
    regressed: bool = False
    p: float | None = None
    level: float | None = None


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
    tables = [Pair(*rows[n].head, *rows[n].compared_with) for n in counted]
    midp = stratified_less(tables, suite_weights(tables)).midp
    hit, doubt = midp <= SUSPECT * TIES, midp <= DOUBT * TIES
    if not hit or policy.suite != "block":
        return SuiteFinding(midp, hit, unconfirmed=doubt)
    passed = {n: rows[n].compared_with for n in counted}
    evidence = yield from _paired({n: (passes + 0.5) / (trials + 1) for n, (passes, trials) in passed.items()})
    return SuiteFinding(
        midp, hit, regressed=evidence * LIMIT * TIES >= 1, p=min(1.0, 1 / max(evidence, 1e-300)), level=LIMIT
    )


def history_holds(rows: Sequence[RowTest]) -> bool:
    """Return False if base's fresh trials contradict its history over all rows: a provider may have changed."""
    paired = [(row.paired.base, row.compared_with) for row in rows if row.paired and row.paired.pairs.number]
    tables = [Pair(*fresh, *past) for fresh, past in paired if past[1]]
    return not tables or stratified_less(tables).midp > OUTDATED


def _paired(rates: dict[int, float]) -> Generator[Sequence[Ask], Sequence[bool | None], float]:
    """Run pairs of all rows, and return the evidence of all together. `rates`: how often base is expected to pass."""
    seen = dict.fromkeys(rates, Pairs())
    evidence = 1.0
    for turn in range(ROUNDS):
        sides: tuple[Side, Side] = ("head", "base") if turn % 2 else ("base", "head")
        outcomes = yield [Ask(n, side, "verify") for n in rates for side in sides]
        for place, n in enumerate(rates):
            passed = dict(zip(sides, outcomes[2 * place : 2 * place + 2], strict=True))
            head, base = passed["head"], passed["base"]
            if head is not None and base is not None:
                seen[n] = seen[n].plus(1, head, base)
        evidence = sum(exp(_log_e(seen, rates, shift)) for shift in SHIFTS) / len(SHIFTS)
        if evidence * LIMIT * TIES >= 1 or (turn + 1 >= FIRST and evidence < GIVES_UP):
            break
    return evidence


def _log_e(seen: dict[int, Pairs], rates: dict[int, float], shift: float) -> float:
    return sum(log_e(pairs, rates[n], max(rates[n] / 10, rates[n] - shift)) for n, pairs in seen.items())
