"""Screen all rows against base's history, and test those that look worse on pairs of fresh trials (verdict.md)."""

from __future__ import annotations

from collections.abc import Generator, Sequence
from functools import cache
from math import exp, log
from typing import NamedTuple
from zlib import crc32

from tidegate.decide.procedure.pairs import Paired, PairTest, RowTest
from tidegate.decide.procedure.rules import (
    FIRST_PAIRS,
    LEAST_HISTORY,
    SUSPECT,
    VERIFY_PAIRS,
    Ask,
    Facts,
    limit_of,
)
from tidegate.decide.procedure.suite_gate import SuiteFinding, suite_gate
from tidegate.decide.statistics.rates import TIES
from tidegate.model.run_row import Counts
from tidegate.model.suite import Policy
from tidegate.model.trial_spec import Phase, Side

Outcomes = Sequence[bool | None]  # None: not measured
Steps = Generator[Sequence[Ask], Outcomes, None]


class Report(NamedTuple):
    """The result: every row, in order, and the suite as a whole."""

    rows: tuple[RowTest, ...]
    suite: SuiteFinding | None


class _Screened:
    """The screening state of one row; `alone` means that it has no usable history.

    `first`: the counts after its screening, without the trials that a row in doubt gets after that. `stuck`: head has
    failed every trial, and `trials.max` leaves too few to test that.
    """

    __slots__ = (
        "alone",
        "base",
        "base_n",
        "done",
        "facts",
        "first",
        "head",
        "head_n",
        "hit",
        "paired",
        "stuck",
        "used",
    )

    def __init__(self, facts: Facts) -> None:
        self.facts = facts
        self.alone = facts.history[1] < LEAST_HISTORY
        self.head = self.head_n = self.base = self.base_n = self.used = 0
        self.hit = self.done = self.stuck = False
        self.paired: Paired | None = None
        self.first: tuple[Counts, Counts] = (0, 0), (0, 0)

    @property
    def compared_with(self) -> Counts:
        return (self.base, self.base_n) if self.alone else self.facts.history

    def odds(self) -> float:
        """Return the log odds of a drop: a history of any length counts, also beside base's own trials.

        They are negative where head passes every trial, or base none.
        """
        past = [counts for counts in (self.compared_with, self.facts.history) if counts[0]]
        if not past or self.head == self.head_n:
            return -1.0
        return max(drop_odds(self.head, self.head_n, *counts) for counts in past)

    def tested(self) -> RowTest:
        head, base = self.first
        in_doubt = self.head_n > 0 and (self.stuck or not (self.hit or self.done))
        return RowTest(head, base, base if self.alone else self.facts.history, self.hit, in_doubt, self.paired)


class Procedure:
    """The sequential procedure over all rows of a run.

    It is deterministic: the same outcomes lead to the same requests, so that an interrupted run can be resumed.
    """

    def __init__(self, facts: Sequence[Facts], policy: Policy) -> None:
        self._facts = facts
        self._policy = policy
        self._rows = [_Screened(one) for one in facts]
        self._push = 1 + max((one.earlier.pushes for one in facts), default=0)
        self._tested = 0
        self._suite: SuiteFinding | None = None

    def steps(self) -> Steps:
        """Yield the trials to run now, and receive their outcomes in that order, until the procedure is finished.

        A row that is still in doubt after its screening gets up to as many trials again.
        """
        rows, policy = self._rows, self._policy
        for turn in range(1, 2 * max((one.screening for one in self._facts), default=0) + 1):
            yield from _round(rows, turn)
            for number in _hits(rows, turn):
                yield from self._test(number)
                if policy.fail_fast and rows[number].tested().regressed and rows[number].facts.blocks:
                    return
        if policy.suite != "off" and not any(row.tested().regressed for row in rows):
            self._suite = yield from suite_gate([row.tested() for row in rows], self._facts, policy)

    def report(self) -> Report:
        """Return the results so far; may be called before the end."""
        return Report(tuple(row.tested() for row in self._rows), self._suite)

    def _test(self, number: int) -> Steps:
        """Test a row on pairs, at the limit of its place in this push."""
        self._tested += 1
        row, limit = self._rows[number], limit_of(self._policy.alpha, self._tested, self._push)
        row.paired = yield from PairTest(number, row.facts, row.used, limit, self._policy.alpha).run()


def _round(rows: Sequence[_Screened], turn: int) -> Steps:
    """Request one head trial of every row still in screening, and one base trial if the row has no history.

    Those whose replayed sessions differ come first, the worst of them in front. The sides take turns at starting, so
    that neither is always the first to use the machine or the provider.
    """
    asks: list[Ask] = []
    for number in sorted(_mixed(len(rows), turn), key=lambda one: -rows[one].facts.severity):
        row = rows[number]
        if not row.done and turn <= 2 * row.facts.screening:
            phase: Phase = "screen" if turn <= row.facts.screening else "confirm"
            if row.hit and phase == "confirm":
                continue
            sides: tuple[Side, ...] = ("base", "head") if (number + turn) % 2 else ("head", "base")
            asks += [Ask(number, side, phase) for side in sides if row.alone or side == "head"]
    if not asks:
        return
    outcomes = yield asks
    for ask, passed in zip(asks, outcomes, strict=True):
        row = rows[ask.row]
        row.used += ask.side == "head"
        if passed is None:
            continue
        if ask.side == "head":
            row.head, row.head_n = row.head + passed, row.head_n + 1
        else:
            row.base, row.base_n = row.base + passed, row.base_n + 1
        if ask.phase == "screen":
            row.first = (row.head, row.head_n), (row.base, row.base_n)


@cache
def _mixed(count: int, turn: int) -> list[int]:
    """Return a pseudo-random order of the rows: different in every round, and the same in every run.

    So no row is always run first or last in a round.
    """
    return sorted(range(count), key=lambda number: crc32(f"{number}/{turn}".encode()))


def _hits(rows: Sequence[_Screened], turn: int) -> list[int]:
    """Mark the rows that look worse and were not tested yet, and return them, the most extreme first.

    Rows that are in no doubt after their screening are done.
    """
    found: list[tuple[float, float, int]] = []
    for number, row in enumerate(rows):
        facts = row.facts
        if turn == 1 and (facts.earlier.state in ("regressed", "unconfirmed") or facts.failing):
            row.hit = True  # what an earlier push or a replay showed comes first, whatever the first trial does
            found.append((-100.0, -facts.severity, number))
        if row.hit or row.done:
            continue
        odds = row.odds()
        if odds * TIES >= SUSPECT:
            row.hit = True
            found.append((-odds, -facts.severity, number))
        elif turn >= facts.screening and (odds <= 0 or turn >= 2 * facts.screening or not _room(row)):
            row.done = True
            row.stuck = odds > 0 and not row.head and not _room(row)
    return [number for _, _, number in sorted(found)]


def _room(row: _Screened) -> bool:
    """Return True if `trials.max` leaves a test on pairs possible after another trial."""
    return row.facts.most is None or row.facts.most > row.used + FIRST_PAIRS + VERIFY_PAIRS


DROP = 0.5  # the drop that is looked for
PRIOR = (0.3, 0.03)  # of base's rate, a beta distribution: most rows pass nearly always
STEPS = 400


@cache
def drop_odds(passes: int, trials: int, past_passes: int, past_trials: int) -> float:
    """Return the logarithm of the Bayes factor of a drop by DROP against base's rate, given base's earlier trials."""
    fails = trials - passes
    same = dropped = 0.0
    for rate, weight in _posterior(past_passes, past_trials):
        lower = max(rate - DROP, 0.02 * rate)
        same += weight * rate**passes * (1 - rate) ** fails
        dropped += weight * lower**passes * (1 - lower) ** fails
    return log(dropped / same)


@cache
def _posterior(passes: int, trials: int) -> tuple[tuple[float, float], ...]:
    """Return rates between 0 and 1, each with its weight after so many passes."""
    rates = [(step + 0.5) / STEPS for step in range(STEPS)]
    logs = [(passes + PRIOR[0] - 1) * log(rate) + (trials - passes + PRIOR[1] - 1) * log(1 - rate) for rate in rates]
    most = max(logs)
    return tuple((rate, exp(one - most)) for rate, one in zip(rates, logs, strict=True))
