"""Error rates, power and cost before anything is paid for: the real procedure against agents that are only chance."""

from __future__ import annotations

from collections.abc import Sequence
from math import sqrt
from random import Random
from typing import NamedTuple

from tidegate.procedure.flaky import is_flaky
from tidegate.procedure.rules import Facts, Rules
from tidegate.procedure.screen import Report, ScreenConfirmVerify

Rates = tuple[float, ...]  # of success, one for each scenario


class Situation(NamedTuple):
    """A pull request: how often its scenarios pass on both sides, and how often they did when the history was made."""

    name: str
    base: Rates
    head: Rates
    past: Rates

    @classmethod
    def of(cls, name: str, base: Rates, head: Rates | None = None, past: Rates | None = None) -> Situation:
        """Head is as base is, and base as it was, unless said otherwise."""
        return cls(name, base, base if head is None else head, base if past is None else past)


class Gate(NamedTuple):
    """How pull requests are judged: k0 and the rules, with so many trials of history for each scenario."""

    screening: int = 3
    history: int = 40
    rules: Rules = Rules()


class Cell(NamedTuple):
    """What became of the pull requests: trials of a mean one, the shares that were blocked, and rightly named."""

    prs: int
    trials: float
    blocked: float
    named: float

    @property
    def error(self) -> float:
        """Two standard errors of `blocked`, and never less than what no case at all can exclude."""
        return max(2 * sqrt(self.blocked * (1 - self.blocked) / self.prs), 3 / self.prs)


def simulate(situation: Situation, gate: Gate, count: int, seed: int = 0) -> Cell:
    """Judge so many pull requests. The same seed gives the same numbers, on every machine."""
    chance = Random(f"{seed}/{situation.name}/{gate.screening}/{gate.history}")
    worse = {n for n, (base, head) in enumerate(zip(situation.base, situation.head, strict=True)) if head < base}
    trials = blocked = named = 0
    for _ in range(count):
        used, report = _one(situation, gate, chance)
        regressed = {n for n, row in enumerate(report.rows) if row.confirmed and row.confirmed.found == "regressed"}
        trials += used
        blocked += bool(regressed) or (report.suite is not None and report.suite.regressed)
        named += bool(regressed & worse)
    return Cell(count, trials / count, blocked / count, named / count)


def _one(situation: Situation, gate: Gate, chance: Random) -> tuple[int, Report]:
    """One pull request: how many trials it took, and what was found."""
    draw = chance.random
    facts = [_facts([draw() < rate for _ in range(gate.history)], gate.screening) for rate in situation.past]
    machine = ScreenConfirmVerify(facts, gate.rules)
    steps = machine.steps()
    used = 0
    try:
        asks = next(steps)
        while True:
            used += len(asks)
            base, head = situation.base, situation.head
            asks = steps.send([draw() < (head if ask.side == "head" else base)[ask.row] for ask in asks])
    except StopIteration:
        return used, machine.report()


def _facts(past: Sequence[bool], screening: int) -> Facts:
    return Facts((sum(past), len(past)), screening, None, is_flaky(past))


# --- situations


def situations(base: Rates) -> list[Situation]:
    """What is worth knowing of a suite: a clean pull request, some that break something, and drifts of the provider."""
    best, second = _best_two(base)
    dead = changed(base, {best: 0.0})
    return [
        Situation.of("clean", base),
        Situation.of("one stops working", base, dead),
        Situation.of("two lose 50 points", base, changed(base, {best: base[best] - 0.5, second: base[second] - 0.5})),
        Situation.of("one loses 50 points", base, changed(base, {best: base[best] - 0.5})),
        Situation.of("all lose 10 points", base, tuple(max(0.0, rate - 0.1) for rate in base)),
    ]


def drifts(base: Rates) -> list[Situation]:
    """The provider changes after the history was made: both sides are hit alike, so that nothing may be blocked."""
    best, second = _best_two(base)
    hit = {
        "one stops working": changed(base, {best: 0.0}),
        "two lose 50 points": changed(base, {best: base[best] - 0.5, second: base[second] - 0.5}),
        "all lose 10 points": tuple(max(0.0, rate - 0.1) for rate in base),
        "everything × 0.8": tuple(rate * 0.8 for rate in base),
        "all lose 5 points": tuple(max(0.0, rate - 0.05) for rate in base),
    }
    return [Situation.of(f"drift: {name}", rates, past=base) for name, rates in hit.items()]


def _best_two(base: Rates) -> tuple[int, int]:
    """The first of the best scenarios, and the first of the next best ones, where they are not all alike."""
    best = base.index(max(base))
    others = [n for n in range(len(base)) if n != best] or [best]
    return best, max(others, key=lambda n: (base[n] < base[best], base[n], -n))


def changed(base: Rates, new: dict[int, float]) -> Rates:
    """The rates with some of them replaced, never below 0."""
    return tuple(max(0.0, new.get(n, rate)) for n, rate in enumerate(base))
