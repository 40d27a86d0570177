"""Simulates pull requests that are pushed several times: with a defect, its repair, or a defect after clean pushes."""

from __future__ import annotations

from collections.abc import Sequence
from random import Random
from typing import NamedTuple

from tidegate.decide.procedure.pushes import after_push
from tidegate.decide.procedure.rules import Facts
from tidegate.lab.simulate import Cell, Gate, Outcome, Situation, drawn_history, judge
from tidegate.model.plan import RowKey


class Pushes(NamedTuple):
    """Pushes of one pull request with the same defect: shares of pull requests.

    `blocked`: any push was blocked. `green_later`: after a blocked push, any later one was not. `cleared`: after a
    blocked first push, a second one that repairs everything was not blocked. `unproven`: any push had exit code 5.
    """

    blocked: float
    green_later: float
    cleared: float
    unproven: float


def simulate_pushes(situation: Situation, gate: Gate, count: int, pushes: int = 10, seed: int = 0) -> Pushes:
    """Judge `count` pull requests, each pushed several times, with what earlier pushes showed."""
    chance = Random(f"{seed}/{situation.name}/{gate.screening}/{gate.history}/pushes")
    repaired = Situation.of("repaired", situation.base)
    blocked = red_first = cleared = later = unproven = 0
    for _ in range(count):
        facts = drawn_history(situation.past, gate, chance)
        red = green = unknown = False
        for number in range(pushes):
            end = judge(situation, gate, facts, chance)
            facts = _pushed(facts, end)
            green |= red and not end.blocked
            red |= end.blocked
            unknown |= end.unproven
            if number == 0 and end.blocked:
                red_first += 1
                cleared += not judge(repaired, gate, facts, chance).blocked
        blocked += red
        later += green
        unproven += unknown
    return Pushes(blocked / count, later / max(1, blocked), cleared / max(1, red_first), unproven / count)


def simulate_after_clean(situation: Situation, gate: Gate, count: int, pushes: int = 10, seed: int = 0) -> Cell:
    """Judge `count` pull requests that have a defect from their last push on, after so many clean ones."""
    chance = Random(f"{seed}/{situation.name}/{gate.screening}/{gate.history}/after")
    clean = Situation.of("clean", situation.base)
    trials = blocked = named = amber = unproven = 0
    for _ in range(count):
        facts = drawn_history(situation.past, gate, chance)
        for _ in range(pushes):
            facts = _pushed(facts, judge(clean, gate, facts, chance))
        end = judge(situation, gate, facts, chance)
        trials, blocked, named = trials + end.trials, blocked + end.blocked, named + bool(end.regressed)
        amber, unproven = amber + end.amber, unproven + end.unproven
    return Cell(count, trials / count, blocked / count, named / count, amber / count, unproven / count)


def _pushed(facts: Sequence[Facts], end: Outcome) -> list[Facts]:
    """Return what the next push of the same pull request knows of each row."""
    keys = [RowKey(scenario=str(number), agent="") for number in range(len(facts))]
    before = dict(zip(keys, (one.earlier for one in facts), strict=True))
    known = after_push(dict(zip(keys, end.report.rows, strict=True)), before)
    return [one._replace(earlier=known[key]) for key, one in zip(keys, facts, strict=True)]
