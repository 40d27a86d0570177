"""Test the suite as a whole, for small drops in many rows that no single row shows (verdict.md)."""

from __future__ import annotations

from collections.abc import Generator, Sequence
from typing import NamedTuple

from tidegate.procedure.rules import Ask, Facts, Rules
from tidegate.procedure.screened import Screened
from tidegate.statistics.pair import Pair
from tidegate.statistics.sequential import TIES
from tidegate.statistics.stratified import Stratified, stratified_less, suite_weights

CLEAR, HOPELESS, REST = 0.2, 0.25, 0.8  # share of alpha_s at the first look, p to give up at, share at the second
MORE_ROUNDS = 3  # further trials per side and row before the second look


class SuiteFinding(NamedTuple):
    """The result of the suite's test. `hit`: screening looks worse, by mid-p; `p`, `level`: from concurrent trials."""

    midp: float
    hit: bool
    regressed: bool = False
    p: float | None = None
    level: float | None = None


Steps = Generator[Sequence[Ask], Sequence[bool | None], SuiteFinding | None]


def suite_gate(rows: Sequence[Screened], facts: Sequence[Facts], rules: Rules) -> Steps:
    """Test the screening trials of all rows together; in `block` mode, confirm a hit on concurrent trials only.

    Returns None if no row has more than one screening trial and something to compare them with.
    """
    counted = [number for number, row in enumerate(rows) if facts[number].screening > 1 and row.head[1]]
    tables = [Pair(*rows[n].head, *rows[n].compared_with) for n in counted]
    usable = [table for table in tables if table.base_n]
    if not usable:
        return None
    midp = _test(usable).midp
    found = SuiteFinding(midp, midp <= rules.suite_screen * TIES)
    if not found.hit or rules.suite != "block":
        return found
    seen = {n: [*rows[n].head, *rows[n].base] for n in counted}
    rounds = max(rules.suite_rounds, *(facts[n].screening for n in counted))
    for _ in range(rounds):
        yield from _ask([Ask(n, "base", "confirm") for n in counted if seen[n][3] < rounds], seen)
    first = _concurrent(seen)
    if first <= CLEAR * rules.suite_alpha * TIES or first > HOPELESS:
        limit = CLEAR * rules.suite_alpha
        return found._replace(regressed=first <= limit * TIES, p=first, level=limit)
    for _ in range(MORE_ROUNDS):
        asks = [Ask(n, side, "verify") for n in counted for side in ("head", "base")]
        yield from _ask(asks, seen)
    second, limit = _concurrent(seen), REST * rules.suite_alpha
    return found._replace(regressed=second <= limit * TIES, p=second, level=limit)


def _ask(asks: Sequence[Ask], seen: dict[int, list[int]]) -> Generator[Sequence[Ask], Sequence[bool | None], None]:
    if not asks:
        return
    outcomes = yield asks
    for ask, passed in zip(asks, outcomes, strict=True):
        if passed is not None:
            place = 0 if ask.side == "head" else 2
            seen[ask.row][place] += passed
            seen[ask.row][place + 1] += 1


def _concurrent(seen: dict[int, list[int]]) -> float:
    tables = [Pair(*counts) for counts in seen.values() if counts[1] and counts[3]]
    return _test(tables).p if tables else 1.0


def _test(tables: Sequence[Pair]) -> Stratified:
    return stratified_less(tables, suite_weights(tables))
