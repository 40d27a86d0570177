"""Test the suite as a whole, for small drops in many rows that no single row shows (verdict.md)."""

from __future__ import annotations

from collections.abc import Generator, Sequence
from typing import NamedTuple

from tidegate.model.trial_spec import Side
from tidegate.procedure.rules import Ask, Facts, Rules
from tidegate.procedure.screened import Screened
from tidegate.statistics.pair import Pair
from tidegate.statistics.sequential import TIES
from tidegate.statistics.stratified import Stratified, stratified_less, suite_weights

SPENT = (0.1, 0.3, 0.6)  # shares of alpha_s at each look; they sum to 1
HOPELESS = 0.4  # p of a look, other than the last, at which the test gives up
MORE_ROUNDS = 6  # further trials per side and row before each later look


class SuiteFinding(NamedTuple):
    """The result of the suite's test, by mid-p of the screening; `p`, `level`: of concurrent trials.

    `hit`: in `block` mode it is tested on concurrent trials. `unconfirmed`: it looks worse, and was not tested so.
    """

    midp: float
    hit: bool
    unconfirmed: bool = False
    regressed: bool = False
    p: float | None = None
    level: float | None = None


Steps = Generator[Sequence[Ask], Sequence[bool | None], SuiteFinding | None]


def suite_gate(rows: Sequence[Screened], facts: Sequence[Facts], rules: Rules) -> Steps:
    """Test the screening trials of all rows together; in `block` mode, confirm a hit on concurrent trials only.

    Returns None if no row has more than one screening trial and something to compare them with; without `block` mode
    also if fresh base trials contradict the history of a row, since that of the others is then outdated too.
    """
    if rules.suite != "block" and any(row.confirmed and row.confirmed.moved for row in rows):
        return None
    counted = [number for number, row in enumerate(rows) if facts[number].screening > 1 and row.head[1]]
    tables = [Pair(*rows[n].head, *rows[n].compared_with) for n in counted]
    usable = [table for table in tables if table.base_n]
    if not usable:
        return None
    midp = _test(usable).midp
    hit, doubt = midp <= rules.suite_screen * TIES, midp <= rules.suite_doubt * TIES
    if not hit or rules.suite != "block":
        return SuiteFinding(midp, hit, unconfirmed=doubt)
    found = SuiteFinding(midp, hit)
    seen = {n: [*rows[n].head, *rows[n].base] for n in counted}
    rounds = max(rules.suite_rounds, *(facts[n].screening for n in counted))
    for _ in range(rounds):
        yield from _ask([Ask(n, "base", "confirm") for n in counted if seen[n][3] < rounds], seen)
    for look, share in enumerate(SPENT):
        if look:
            yield from _more(counted, seen)
        p, limit = _concurrent(seen), share * rules.suite_alpha
        found = found._replace(regressed=p <= limit * TIES, p=p, level=limit)
        if found.regressed or p > HOPELESS:
            break
    return found


def _more(rows: Sequence[int], seen: dict[int, list[int]]) -> Generator[Sequence[Ask], Sequence[bool | None], None]:
    """Request trials of both sides of every row; the sides take turns at starting."""
    for turn in range(MORE_ROUNDS):
        sides: tuple[Side, ...] = ("head", "base") if turn % 2 else ("base", "head")
        yield from _ask([Ask(n, side, "verify") for n in rows for side in sides], seen)


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
