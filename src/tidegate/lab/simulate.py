"""Simulates pull requests: error rates, power and cost of the real procedure, with trials that are random draws."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from math import sqrt
from random import Random
from typing import NamedTuple

from tidegate.decide.procedure.detection import DROPS, Screening, detection
from tidegate.decide.procedure.observed import usual_rate
from tidegate.decide.procedure.pairs import RowTest
from tidegate.decide.procedure.rules import Ask, Facts
from tidegate.decide.procedure.screening import Procedure, Report
from tidegate.model.suite import Policy
from tidegate.model.trial_spec import Side

Rates = tuple[float, ...]  # success rates, one per scenario


class Situation(NamedTuple):
    """A pull request: success rates on both sides, and when the history was made.

    `rho`: correlation of a row's trials within a run and side, which has its own rate for them. With `redrawn`, it has
    another one after the pause.
    """

    name: str
    base: Rates
    head: Rates
    past: Rates
    rho: float = 0.0
    redrawn: bool = False
    outage: tuple[float, int] = (1.0, 0)  # both sides pass this much less often, in so many trials one after the other

    @classmethod
    def of(cls, name: str, base: Rates, head: Rates | None = None, past: Rates | None = None) -> Situation:
        """Return a situation in which head equals base, and base equals its past, unless given."""
        return cls(name, base, base if head is None else head, base if past is None else past)


class TrialNumbers(NamedTuple):
    """One row's k0, its trials of history, and its `trials.max`."""

    screening: int
    history: int
    most: int | None = None


class Gate(NamedTuple):
    """How pull requests are judged: k0, trials of history per scenario, the policy, and `trials.max`.

    `rows`: these numbers of each row, if they differ.
    """

    screening: int = 3
    history: int = 40
    policy: Policy = Policy()
    most: int | None = None
    rows: tuple[TrialNumbers, ...] = ()


class Cell(NamedTuple):
    """The results of simulated pull requests.

    `trials` is a mean. The others are shares: `blocked` (exit code 1), `named` (a worse row is regressed), `amber` (not
    blocked, and a row or the suite is unconfirmed), `unproven` (exit code 5).
    """

    prs: int
    trials: float
    blocked: float
    named: float
    amber: float = 0.0
    unproven: float = 0.0

    @property
    def error(self) -> float:
        """Two standard errors of `blocked`, at least the 95 % bound of a share that was never seen."""
        return error_of(self.blocked, self.prs)


def error_of(share: float, count: int) -> float:
    """Return two standard errors of a share, at least the 95 % bound of a share that was never seen."""
    return max(2 * sqrt(share * (1 - share) / count), 3 / count)


class Outcome(NamedTuple):
    """The end of one simulated pull request."""

    trials: int
    blocked: bool
    unproven: bool
    amber: bool
    regressed: frozenset[int]
    report: Report


def simulate(situation: Situation, gate: Gate, count: int, seed: int = 0) -> Cell:
    """Judge `count` pull requests. The same seed gives the same numbers on every machine."""
    chance = Random(f"{seed}/{situation.name}/{gate.screening}/{gate.history}")
    worse = {n for n, (base, head) in enumerate(zip(situation.base, situation.head, strict=True)) if head < base}
    trials = blocked = named = amber = unproven = 0
    for _ in range(count):
        one = judge(situation, gate, drawn_history(situation.past, gate, chance), chance)
        trials += one.trials
        blocked += one.blocked
        named += bool(one.regressed & worse)
        amber += one.amber
        unproven += one.unproven
    return Cell(count, trials / count, blocked / count, named / count, amber / count, unproven / count)


def drawn_history(rates: Rates, gate: Gate, chance: Random) -> list[Facts]:
    """Return what is known of each row before its first trial, with a random history."""
    plans = gate.rows or [TrialNumbers(gate.screening, gate.history, gate.most)] * len(rates)
    drawn = ([chance.random() < rate for _ in range(plan.history)] for rate, plan in zip(rates, plans, strict=True))
    return [
        Facts((sum(past), len(past)), plan.screening, plan.most, before=usual_rate((sum(past), len(past)), past[-5:]))
        for past, plan in zip(drawn, plans, strict=True)
    ]


def judge(situation: Situation, gate: Gate, facts: Sequence[Facts], chance: Random) -> Outcome:
    """Judge one pull request with the code that judges real ones."""
    machine = Procedure(facts, gate.policy)
    draws = _Draws(situation, chance)
    steps, used = machine.steps(), 0
    try:
        asks = next(steps)
        while True:
            used += len(asks)
            asks = steps.send([draws.outcome(ask) for ask in asks])
    except StopIteration:
        pass
    report = machine.report()
    regressed = frozenset(n for n, row in enumerate(report.rows) if row.regressed)
    blocked = bool(regressed) or (report.suite is not None and report.suite.regressed)
    unproven = not blocked and any(_unproven(row) for row in report.rows)
    doubtful = any(row.paired and row.paired.found == "unconfirmed" for row in report.rows)
    amber = not blocked and (doubtful or (report.suite is not None and report.suite.unconfirmed))
    return Outcome(used, blocked, unproven, amber, regressed, report)


def _unproven(row: RowTest) -> bool:
    """Return True if the row ends the run with exit code 5."""
    end = row.paired
    if end is None:
        return False
    return end.found == "base_fails" or (end.found == "unconfirmed" and not row.head[0] + end.pairs.head)


class _Draws:
    """The outcomes of one pull request's trials."""

    def __init__(self, situation: Situation, chance: Random) -> None:
        self._situation = situation
        self._chance = chance
        self._own: dict[tuple[int, Side, bool], float] = {}
        self._drawn, self._outage = 0, chance.randrange(2 * len(situation.base)) if situation.outage[1] else 0

    def outcome(self, ask: Ask) -> bool:
        """Return whether the trial passes."""
        self._drawn += 1
        factor, trials = self._situation.outage
        out = 0 <= self._drawn - self._outage < trials
        return self._chance.random() < self._rate(ask) * (factor if out else 1.0)

    def _rate(self, ask: Ask) -> float:
        situation = self._situation
        rate = (situation.head if ask.side == "head" else situation.base)[ask.row]
        if not situation.rho or not 0 < rate < 1:
            return rate
        place = ask.row, ask.side, situation.redrawn and ask.phase == "verify"
        if place not in self._own:
            spread = 1 / situation.rho - 1
            self._own[place] = self._chance.betavariate(rate * spread, (1 - rate) * spread)
        return self._own[place]


# --- situations


def situations(base: Rates) -> list[Situation]:
    """Return the situations of interest: a clean pull request, and regressions of several kinds."""
    best, *others = _of_each_rate(base)
    pairs = list(pairwise([best, *others]))[:3] or [(best, best)]
    halved = (changed(base, {n: base[n] - 0.5 for n in pair}) for pair in pairs)
    names = ["two drop by 50 points", *(f"two at {base[a]:g} and {base[b]:g} drop by 50" for a, b in pairs[1:])]
    return [
        Situation.of("clean", base),
        Situation.of("one fails completely", base, changed(base, {best: 0.0})),
        *(Situation.of(name, base, head) for name, head in zip(names, halved, strict=True)),
        Situation.of("one drops by 50 points", base, changed(base, {best: base[best] - 0.5})),
        Situation.of("all drop by 10 points", base, tuple(max(0.0, rate - 0.1) for rate in base)),
    ]


def _of_each_rate(base: Rates) -> list[int]:
    """Return the first row of each success rate, the best first."""
    return [base.index(rate) for rate in sorted(set(base), reverse=True)]


def drifts(base: Rates) -> list[Situation]:
    """Return situations in which both sides changed after the history was made: nothing may be blocked."""
    best, second = (*_of_each_rate(base), base.index(max(base)))[:2]
    hit = {
        "one fails completely": changed(base, {best: 0.0}),
        "two drop by 50 points": changed(base, {best: base[best] - 0.5, second: base[second] - 0.5}),
        "all drop by 10 points": tuple(max(0.0, rate - 0.1) for rate in base),
        "everything × 0.8": tuple(rate * 0.8 for rate in base),
        "everything × 0.5": tuple(rate * 0.5 for rate in base),
        "all drop by 5 points": tuple(max(0.0, rate - 0.05) for rate in base),
    }
    return [Situation.of(f"drift: {name}", rates, past=base) for name, rates in hit.items()]


def changed(base: Rates, new: dict[int, float]) -> Rates:
    """Return the rates with some of them replaced, never below 0."""
    return tuple(max(0.0, new.get(n, rate)) for n, rate in enumerate(base))


NAME = 37  # columns of a row's name; the table has 80
CHOICES = (1, 3, 5, 10)  # screening trials that are compared


def sensitivity(rows: Mapping[str, Screening], alpha: float) -> str:
    """Return the table. Each number is the share of pull requests in which the drop of one row is found, in percent."""
    lines = ["if one row drops by so many points, the share of pull requests that are blocked", ""]
    lines.append(_line("row", "base", "history", *(f"-{100 * drop:.0f}" for drop in DROPS)))
    lines += [_line(name, f"{row.rate:.0%}", str(row.history), *_shares([row], alpha)) for name, row in rows.items()]
    return "\n".join([*lines, "", *_choices(list(rows.values()), alpha)])


def _choices(rows: Sequence[Screening], alpha: float) -> Iterator[str]:
    """Yield a line for each number of screening trials, as a mean over the rows."""
    yield "all rows, by number of screening trials (trials.min)"
    yield _line("as configured", "", "", *_shares(rows, alpha))
    for trials in CHOICES:
        other = [row._replace(trials=trials) for row in rows]
        yield _line(f"{trials} trial{'' if trials == 1 else 's'}", "", "", *_shares(other, alpha))


def _shares(rows: Sequence[Screening], alpha: float) -> list[str]:
    """Return the power of each drop, as a mean over the rows."""
    found = [detection(row, alpha).values() for row in rows]
    return [f"{sum(shares) / len(rows):.0%}" for shares in zip(*found, strict=True)]


def _line(name: str, rate: str, history: str, *shares: str) -> str:
    shown = name if len(name) <= NAME else f"{name[: NAME - 1]}…"
    return f"{shown:<{NAME}}{rate:>6}{history:>9}" + "".join(
        f"{share:>{width}}" for share, width in zip(shares, (6, 5, 5, 5, 6), strict=True)
    )
