"""SCREEN: run a few trials of every row, and confirm rows that look worse on fresh trials (verdict.md)."""

from __future__ import annotations

from collections.abc import Generator, Sequence
from functools import cache
from typing import NamedTuple
from zlib import crc32

from tidegate.model.trial_spec import Side
from tidegate.procedure.confirm import Confirmation, Confirmed
from tidegate.procedure.rules import LEAST_HISTORY, SHORT_HISTORY, Ask, Counts, Facts, Rules, level
from tidegate.procedure.screened import Screened
from tidegate.procedure.suite_gate import SuiteFinding, suite_gate
from tidegate.statistics.exact import fisher_midp_less
from tidegate.statistics.sequential import TIES

Outcomes = Sequence[bool | None]  # None: not measured
Steps = Generator[Sequence[Ask], Outcomes, None]


class Report(NamedTuple):
    """The result: every row, in order, and the suite as a whole. `stopped`: fail_fast ended the run early."""

    rows: tuple[Screened, ...]
    suite: SuiteFinding | None
    stopped: bool


class _Row:
    """The screening state of one row; `alone` means that it has no usable history."""

    __slots__ = ("alone", "base", "base_n", "confirmed", "facts", "head", "head_n", "hit", "level")

    def __init__(self, facts: Facts) -> None:
        self.facts = facts
        self.alone = facts.history[1] < LEAST_HISTORY
        self.head = self.head_n = self.base = self.base_n = 0
        self.hit = False
        self.level: float | None = None
        self.confirmed: Confirmed | None = None

    @property
    def compared_with(self) -> Counts:
        return (self.base, self.base_n) if self.alone else self.facts.history

    def midp(self) -> float:
        base, base_n = self.compared_with
        return fisher_midp_less(self.head, self.head_n, base, base_n)

    def screened(self) -> Screened:
        head, base = (self.head, self.head_n), (self.base, self.base_n)
        return Screened(head, base, self.compared_with, self.hit, self.confirmed, self.level)


class ScreenConfirmVerify:
    """The sequential procedure over all rows of a run.

    It is deterministic: the same outcomes lead to the same requests, so that an interrupted run can be resumed.
    """

    def __init__(self, facts: Sequence[Facts], rules: Rules) -> None:
        self._facts = facts
        self._rules = rules
        self._rows = [_Row(one) for one in facts]
        self._beside: list[Confirmation] = []
        self._suite: SuiteFinding | None = None
        self._stopped = False

    def steps(self) -> Steps:
        """Yield the trials to run now, and receive their outcomes in that order, until the procedure is finished."""
        rows, rules = self._rows, self._rules
        for turn in range(1, max((one.screening for one in self._facts), default=0) + 1):
            yield from _round(rows, turn)
            hits = _hits(rows, turn, rules)
            while hits:
                # With fail_fast, confirm one row at a time: the first blocking regression ends the run.
                now, hits = (hits[:1], hits[1:]) if rules.fail_fast else (hits, [])
                yield from _confirm(rows, now, self._beside, rules)
                if rules.fail_fast and any(_regressed(row) and row.facts.blocks for row in rows):
                    self._stopped = True
                    return
        if rules.suite != "off" and not any(map(_regressed, rows)):
            self._suite = yield from suite_gate([row.screened() for row in rows], self._facts, rules)

    def report(self) -> Report:
        """Return the results so far; may be called before the end."""
        return Report(tuple(row.screened() for row in self._rows), self._suite, self._stopped)


def _round(rows: Sequence[_Row], turn: int) -> Steps:
    """Request one head trial of every row still in screening, and one base trial if the row has no history.

    Rows that the pull request changed come last, as they may use up the budget; before them, those whose replayed
    sessions differ come first, the worst of them in front. The sides take turns at starting, so that neither is always
    the first to use the machine or the provider.
    """
    asks: list[Ask] = []
    for number in sorted(_mixed(len(rows), turn), key=lambda one: (rows[one].facts.changed, -rows[one].facts.severity)):
        row = rows[number]
        if turn <= row.facts.screening:
            sides: tuple[Side, ...] = ("base", "head") if (number + turn) % 2 else ("head", "base")
            asks += [Ask(number, side, "screen") for side in sides if row.alone or side == "head"]
    outcomes = yield asks
    for ask, passed in zip(asks, outcomes, strict=True):
        if passed is None:
            continue
        row = rows[ask.row]
        if ask.side == "head":
            row.head, row.head_n = row.head + passed, row.head_n + 1
        else:
            row.base, row.base_n = row.base + passed, row.base_n + 1


@cache
def _mixed(count: int, turn: int) -> list[int]:
    """Return a pseudo-random order of the rows: different in every round, and the same in every run.

    So no row is always run first or last in a round.
    """
    return sorted(range(count), key=lambda number: crc32(f"{number}/{turn}".encode()))


def _hits(rows: Sequence[_Row], turn: int, rules: Rules) -> list[int]:
    """Mark the rows that look worse and have not been confirmed yet, and return them, the most extreme first."""
    found: list[tuple[float, int]] = []
    for number, row in enumerate(rows):
        if turn == 1 and (row.facts.earlier.state != "ok" or row.facts.failing):
            row.hit = True  # what an earlier push or a replay showed comes first, whatever the first trial does
            found.append((-1.0, number))
        if row.hit or turn > row.facts.screening or not row.head_n or row.head == row.head_n:
            continue
        midp = row.midp()
        if midp <= (_last_limit(row, rules) if turn == row.facts.screening else rules.tau_early) * TIES:
            row.hit = True
            found.append((midp, number))
    return [number for _, number in sorted(found, key=lambda one: (one[0], -rows[one[1]].facts.severity, one[1]))]


def _last_limit(row: _Row, rules: Rules) -> float:
    """Return the mid-p limit after the row's last round."""
    if row.alone:
        return rules.tau_last_alone
    if not row.head:
        return rules.tau_none
    return rules.tau_last if row.facts.history[1] >= SHORT_HISTORY else rules.tau_short


def _confirm(rows: Sequence[_Row], numbers: Sequence[int], beside: list[Confirmation], rules: Rules) -> Steps:
    """Confirm these rows in parallel; each has the limit of its place among all rows confirmed in all pushes."""
    spent = max((row.facts.earlier.spent for row in rows), default=0)
    running: list[tuple[_Row, Generator[Sequence[Ask], Outcomes, Confirmed]]] = []
    for number in numbers:
        row = rows[number]
        row.level = level(rules, spent + len(beside) + 1, not row.alone)
        one = Confirmation(number, row.facts, (row.base, row.base_n), row.level, rules, beside)
        running.append((row, one.run()))
    yield from _together(running)


def _together(
    running: Sequence[tuple[_Row, Generator[Sequence[Ask], Outcomes, Confirmed]]],
) -> Steps:
    """Run several confirmations in lockstep: merge their requests into one batch until all of them have ended."""
    answers: list[Outcomes | None] = [None] * len(running)
    going = list(range(len(running)))
    while going:
        batches: list[tuple[int, Sequence[Ask]]] = []
        for place in going:
            row, steps = running[place]
            try:
                answer = answers[place]
                batches.append((place, next(steps) if answer is None else steps.send(answer)))
            except StopIteration as end:
                row.confirmed = end.value
        if not batches:
            return
        outcomes = yield [ask for _, batch in batches for ask in batch]
        first = 0
        for place, batch in batches:
            answers[place] = outcomes[first : first + len(batch)]
            first += len(batch)
        going = [place for place, _ in batches]


def _regressed(row: _Row) -> bool:
    return row.confirmed is not None and row.confirmed.found == "regressed"
