"""Rules by which other tools block a pull request, for a comparison on the same simulated suites.

Each is a short restatement of a rule as read in November 2026, with settings in its favour. `source` names the file or
the text that it was read in.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import comb, log
from random import Random
from typing import NamedTuple

from tidegate.decide.statistics.rates import TIES, fisher_less, holm
from tidegate.lab.simulate import Cell, Situation


class SampledTrials:
    """Trials of one pull request's rows, counted."""

    def __init__(self, situation: Situation, chance: Random) -> None:
        self.rows = list(zip(situation.base, situation.head, strict=True))
        self.trials = 0
        self._chance = chance

    def passes(self, rate: float, count: int = 1) -> int:
        """Run so many trials that pass at this rate, and return how many passed."""
        self.trials += count
        return self.earlier(rate, count)

    def earlier(self, rate: float, count: int) -> int:
        """Return how many of so many trials of an earlier run pass. They cost this pull request nothing."""
        return sum(self._chance.random() < rate for _ in range(count))


class Rival(NamedTuple):
    """A rule: `blocks` returns the rows that it blocks the pull request for."""

    name: str
    what: str
    source: str
    blocks: Callable[[SampledTrials], Sequence[int]]


def _retry(sampled: SampledTrials) -> list[int]:
    """A row that fails on head is repeated until two pass or three fail; then one pass of three on base blocks.

    Only rows that passed more than 0.6 of each of four nightly runs are looked at, here of three trials each. Those are
    not counted as trials.
    """

    def fails(rate: float) -> bool:
        passes, fails = sampled.passes(rate), 0
        if passes:
            return False
        fails = 1
        while passes < 2 and fails < 3:
            one = sampled.passes(rate)
            passes, fails = passes + one, fails + (not one)
        return fails == 3

    def chosen(rate: float) -> bool:
        return all(sampled.earlier(rate, 3) >= 2 for _ in range(4))

    return [
        n
        for n, (base, head) in enumerate(sampled.rows)
        if chosen(base) and fails(head) and any(sampled.passes(base) for _ in range(3))
    ]


def _threshold(sampled: SampledTrials) -> list[int]:
    """Three trials per side and row: the suite's mean may not be more than 5 points below base's."""
    base = sum(sampled.passes(rate, 3) for rate, _ in sampled.rows)
    head = sum(sampled.passes(rate, 3) for _, rate in sampled.rows)
    return list(range(len(sampled.rows))) if (base - head) / (3 * len(sampled.rows)) > 0.05 else []


def _tiers(sampled: SampledTrials) -> list[int]:
    """Three head trials against ten of base per row: Fisher's p below 0.05, 30 points lower, base at 0.7 or more."""

    def hard(head: int, base: int) -> bool:
        return fisher_less(head, 3, base, 10) < 0.05 and base / 10 - head / 3 >= 0.3 and base >= 7

    return [n for n, (base, head) in enumerate(sampled.rows) if hard(sampled.passes(head, 3), sampled.passes(base, 10))]


def _signs(sampled: SampledTrials) -> list[int]:
    """Three pairs per row: the exact one-sided sign test over all pairs that differ, at 0.05; ties do not count."""
    worse = better = 0
    for base, head in sampled.rows:
        for _ in range(3):
            before, after = sampled.passes(base), sampled.passes(head)
            worse, better = worse + (before > after), better + (after > before)
    pairs = worse + better
    p = sum(comb(pairs, count) for count in range(worse, pairs + 1)) / 2**pairs
    return list(range(len(sampled.rows))) if p <= 0.05 else []


def _sequential(sampled: SampledTrials) -> list[int]:
    """Wald's sequential test of each row: 0.9 against 0.75, errors 0.05 and 0.2, at most 50 trials."""
    fails, passes, blocked = log((1 - 0.2) / 0.05), log(0.2 / (1 - 0.05)), list[int]()
    for n, (_, head) in enumerate(sampled.rows):
        ratio = 0.0
        for _ in range(50):
            ratio += log(0.75 / 0.9) if sampled.passes(head) else log(0.25 / 0.1)
            if not passes < ratio < fails:
                break
        if ratio >= fails:
            blocked.append(n)
    return blocked


def _holm(count: int) -> Callable[[SampledTrials], list[int]]:
    def blocks(sampled: SampledTrials) -> list[int]:
        """`count` trials per side and row: Fisher's exact test with Holm's correction at 0.05."""
        p = [
            fisher_less(sampled.passes(head, count), count, sampled.passes(base, count), count)
            for base, head in sampled.rows
        ]
        return [n for n, limit in enumerate(holm(p, 0.05)) if p[n] <= limit * TIES]

    return blocks


RIVALS = (
    Rival(
        "retry",
        "a failing head run is repeated, 3 failures against any pass of 3 base runs",
        "Gemini CLI, `scripts/run_regression_check.js`, which reports and exits with 0",
        _retry,
    ),
    Rival(
        "threshold",
        "mean more than 5 points below base (by default more than 0), 3 trials per side",
        "waza, `cmd/waza/cmd_gate.go`",
        _threshold,
    ),
    Rival(
        "tiers",
        "Fisher, 3 head trials against 10 of base: the tier *hard regression*",
        "n8n, `evaluations/comparison/statistics.ts`, which does not block",
        _tiers,
    ),
    Rival("signs", "sign test over paired trials, 3 per scenario", "dotnet/skills, pull requests 965 and 1027", _signs),
    Rival(
        "sequential",
        "sequential test against a threshold: 0.9 or 0.75",
        "AgentAssay, arXiv 2603.02601v1, `SPRTRunner`",
        _sequential,
    ),
    Rival("holm 5", "Fisher with Holm, 5 trials per side", "textbook", _holm(5)),
    Rival("holm 20", "Fisher with Holm, 20 trials per side", "textbook", _holm(20)),
)


def simulate_rival(name: str, situation: Situation, count: int, seed: int = 0) -> Cell:
    """Judge `count` simulated pull requests by the rule of that name."""
    rule = next(rival for rival in RIVALS if rival.name == name)
    chance = Random(f"{seed}/{situation.name}/{name}")
    worse = {n for n, (base, head) in enumerate(zip(situation.base, situation.head, strict=True)) if head < base}
    trials = blocked = named = 0
    for _ in range(count):
        sampled = SampledTrials(situation, chance)
        found = rule.blocks(sampled)
        trials += sampled.trials
        blocked += bool(found)
        named += bool(worse.intersection(found))
    return Cell(count, trials / count, blocked / count, named / count)
