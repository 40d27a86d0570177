"""Test on pairs of fresh trials, one of base and one of head, whether a row that looked worse is worse (verdict.md)."""

from __future__ import annotations

from collections.abc import Generator, Sequence
from typing import Literal, NamedTuple

from tidegate.decide.procedure.rules import (
    FIRST_PAIRS,
    LATE,
    MORE_PAIRS,
    MOST_PAIRS,
    SMALL,
    VERIFY_PAIRS,
    Ask,
    Facts,
)
from tidegate.decide.statistics.e_process import Pairs, e_against_drop, e_of_drop, e_of_fall
from tidegate.decide.statistics.rates import TIES
from tidegate.model.run_row import Counts
from tidegate.model.trial_spec import Phase, Side

Asking = Generator[Sequence[Ask], Sequence[bool | None], "Paired"]
Finding = Literal["regressed", "unconfirmed", "base_fails", "ok"]
DOUBT = 4  # a row whose evidence is at least 1/4 of what its limit takes is unconfirmed
FIRST_OF_PATIENT, MOST_OF_PATIENT = 40, 101  # pairs of a row that base never failed: head alone fails by chance
CLEARS = 0.7  # share of an earlier drop that new pairs have to contradict: it looked larger than it is


class Paired(NamedTuple):
    """The result of the test, and its pairs. `limit`: of p, which is one divided by the evidence.

    `reached`: the limit was reached before the verification. `carried`: the row regressed at an earlier push, and these
    pairs do not show that it is fixed. `cut`: `trials.max` allowed fewer pairs than usual.
    """

    found: Finding
    pairs: Pairs
    limit: float
    reached: bool = False
    carried: bool = False
    cut: bool = False

    @property
    def p(self) -> float:
        """An upper bound of the probability that a row without a difference ever shows as much."""
        return min(1.0, 1 / max(e_of_drop(self.pairs), 1e-300))

    @property
    def head(self) -> Counts:
        """Head's passes and trials."""
        return self.pairs.head, self.pairs.number

    @property
    def base(self) -> Counts:
        """Base's passes and trials."""
        return self.pairs.base, self.pairs.number


class RowTest(NamedTuple):
    """One row's screening trials, and its test on pairs if they looked worse.

    `compared_with`: base's history, or base's screening trials without history. `hit`: the row looked worse;
    `in_doubt`: it may, and needs more trials.
    """

    head: Counts
    base: Counts
    compared_with: Counts
    hit: bool = False
    in_doubt: bool = False
    paired: Paired | None = None

    @property
    def regressed(self) -> bool:
        """True if the pairs show that head is worse, or do not contradict that it was."""
        return self.paired is not None and self.paired.found == "regressed"


def look(
    pairs: Pairs, left: int, limit: float, first: int = FIRST_PAIRS, late: int = LATE
) -> Literal["reached", "given up"] | None:
    """Return what these pairs show at a limit, with so many left; None if more are needed.

    `first`, `late`: pairs from which it gives up as head passes as often, and as the difference is small.
    """
    if e_of_drop(pairs) * limit * TIES >= 1:
        return "reached"
    best = e_of_drop(pairs.plus(left, 0, left))  # base passes all pairs that are left, and head fails them
    as_well = pairs.head >= pairs.base and pairs.number >= first
    little = pairs.drop < SMALL and pairs.number >= late
    return "given up" if as_well or little or best * limit * TIES < 1 else None


def run_pairs(
    rows: Sequence[tuple[int, int]], phase: Phase
) -> Generator[Sequence[Ask], Sequence[bool | None], list[Pairs]]:
    """Request a pair of each row, and return each with its outcomes, or empty if one of its trials was not measured.

    Base starts in odd turns. Outcomes are sent in the order of the requests.
    """
    orders: list[tuple[Side, Side]] = [("base", "head") if turn % 2 else ("head", "base") for _, turn in rows]
    outcomes = yield [Ask(row, side, phase) for (row, _), order in zip(rows, orders, strict=True) for side in order]
    found: list[Pairs] = []
    for place, order in enumerate(orders):
        passed = dict(zip(order, outcomes[2 * place : 2 * place + 2], strict=True))
        head, base = passed["head"], passed["base"]
        found.append(Pairs() if head is None or base is None else Pairs(1, head, base))
    return found


class PairTest:
    """The test of one row, as a generator of trial requests. `used`: head trials that the row has had."""

    def __init__(self, row: int, facts: Facts, used: int, limit: float, alpha: float) -> None:
        self._row, self._facts, self._limit, self._alpha = row, facts, limit, alpha
        # A patient test gives up only once the limit cannot be reached.
        self._usual = MOST_OF_PATIENT if facts.patient else MOST_PAIRS
        self._gives_up = (FIRST_OF_PATIENT, MOST_OF_PATIENT) if facts.patient else (FIRST_PAIRS, LATE)
        self._pairs = Pairs()
        self._most = self._usual if facts.most is None else facts.most - used - VERIFY_PAIRS
        self._asked = 0

    def run(self) -> Asking:
        """Yield trial requests until the row is decided, and return the result."""
        size = FIRST_PAIRS
        while min(size, self._left) > 0:
            yield from self._ask(min(size, self._left), "confirm")
            if not self._pairs.number:
                break  # a side cannot be measured
            if self._reached:
                return (yield from self._verified())
            if (found := self._look()) is not None:
                return self._end(found)
            size = MORE_PAIRS
        return self._end("ok", at_limit=True)

    def _verified(self) -> Asking:
        """Run the pairs after the pause, which have to show the drop again."""
        before = self._pairs
        yield from self._ask(VERIFY_PAIRS, "verify")
        again = self._pairs.base - self._pairs.head > before.base - before.head
        return self._end("regressed" if again and self._reached else "ok", reached=True)

    def _look(self) -> Finding | None:
        """Return the decision after the pairs so far; None if more are needed."""
        if self._base_fell:
            return "base_fails"
        if self._red_before:
            return "ok" if self._contradicted() else None
        if self._may_have_fallen:
            return None
        return "ok" if look(self._pairs, self._left, self._limit, *self._gives_up) else None

    @property
    def _reached(self) -> bool:
        return e_of_drop(self._pairs) * self._limit * TIES >= 1

    @property
    def _red_before(self) -> bool:
        return self._facts.earlier.state == "regressed"

    def _contradicted(self) -> bool:
        """Return True if the pairs contradict most of the drop that earlier pushes showed; all pushes share alpha.

        Head has to pass nearly as often as base does now, and did then: neither a smaller drop clears a row, nor a base
        that now fails like head.
        """
        earlier, pairs = self._facts.earlier, self._pairs
        before = Pairs(*earlier.pairs)
        drop = CLEARS * before.drop
        if drop <= 0 or pairs.drop >= SMALL or pairs.head <= (before.base / before.number - drop) * pairs.number:
            return False
        limit = self._alpha / max(2, earlier.pushes * (earlier.pushes + 1))
        return e_against_drop(pairs, drop) * limit * TIES >= 1

    @property
    def _may_have_fallen(self) -> bool:
        """True if both sides pass so much less often than base's history that base itself may have changed."""
        before, pairs = self._facts.before, self._pairs
        if before is None or not pairs.number:
            return False
        return max(pairs.base, pairs.head) <= (before - 0.5) * pairs.number

    @property
    def _base_fell(self) -> bool:
        before, pairs = self._facts.before, self._pairs
        if before is None or not self._may_have_fallen:
            return False
        return e_of_fall(pairs.base, pairs.number, before) * self._limit * TIES >= 1

    @property
    def _left(self) -> int:
        return self._most - self._asked

    def _ask(self, count: int, phase: Phase) -> Generator[Sequence[Ask], Sequence[bool | None], None]:
        """Request pairs in one batch, in which the sides take turns at starting, and count the outcomes."""
        turns = range(self._row + self._asked, self._row + self._asked + count)
        self._asked += count
        for pair in (yield from run_pairs([(self._row, turn) for turn in turns], phase)):
            self._pairs = self._pairs.plus(*pair)

    def _end(self, found: Finding, *, reached: bool = False, at_limit: bool = False) -> Paired:
        carried = self._red_before and (at_limit or (reached and found == "ok"))
        if carried:
            found = "regressed"
        elif found == "ok" and e_of_drop(self._pairs) * self._limit * DOUBT >= 1:
            found = "unconfirmed"
        elif found == "ok" and self._pairs.number < FIRST_PAIRS:
            found = "unconfirmed"  # too few pairs to show anything
        cut = self._facts.most is not None and self._most < self._usual
        return Paired(found, self._pairs, self._limit, reached, carried, cut)
