"""The procedure on simulated suites: its error rates match the documented ones within the Monte-Carlo error."""

from __future__ import annotations

from itertools import chain
from random import Random

import pytest

from tidegate.decide.procedure import pairs
from tidegate.lab.simulate import (
    Cell,
    Gate,
    Situation,
    TrialNumbers,
    changed,
    drawn_history,
    drifts,
    simulate,
    situations,
)
from tidegate.model.suite import Policy

MIXED = (1.0,) * 5 + (0.95,) * 5 + (0.8,) * 5 + (0.5,) * 5
STABLE = (1.0,) * 14 + (0.95,) * 4 + (0.8,) * 2
STANDARD = Gate()
PRS = 400


def cell(name: str, rates: tuple[float, ...] = MIXED, gate: Gate = STANDARD) -> Cell:
    (found,) = [one for one in chain(situations(rates), drifts(rates)) if one.name == name]
    return simulate(found, gate, PRS)


@pytest.mark.parametrize("rates", [MIXED, STABLE])
@pytest.mark.parametrize(("screening", "most"), [(3, 85), (1, 40)])
def test_a_clean_pull_request_is_cheap_and_hardly_ever_blocked(
    rates: tuple[float, ...], screening: int, most: int
) -> None:
    clean = cell("clean", rates, Gate(screening))
    assert clean.blocked <= 0.01 + clean.error
    assert clean.trials <= most


@pytest.mark.parametrize("rates", [MIXED, STABLE])
@pytest.mark.parametrize("gate", [Gate(3), Gate(1), Gate(3, history=0)])
def test_a_scenario_that_stops_working_is_named_every_time(rates: tuple[float, ...], gate: Gate) -> None:
    assert cell("one fails completely", rates, gate).named >= 0.99


def test_two_scenarios_that_lose_half_are_found_in_four_of_five() -> None:
    found = cell("two drop by 50 points")
    assert found.named >= 0.80 - found.error


@pytest.mark.parametrize(
    ("drift", "blocked"),
    [("one fails completely", 0.001), ("two drop by 50 points", 0.01), ("all drop by 10 points", 0.032)],
)
def test_a_drift_that_hits_both_sides_is_hardly_ever_blocked(drift: str, blocked: float) -> None:
    found = cell(f"drift: {drift}")
    assert found.blocked <= blocked + 0.02 + found.error


def test_the_suite_gate_sees_what_no_single_scenario_shows() -> None:
    block = Gate(policy=Policy(suite="block"))
    assert cell("all drop by 10 points", STABLE, block).blocked > 4 * cell("all drop by 10 points", STABLE).blocked


def test_a_broken_rule_would_be_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    """Were pairs judged by head's failures alone, clean pull requests would be blocked: the simulation can tell."""
    monkeypatch.setattr(pairs, "e_of_drop", lambda seen: 1e9 if seen.number > seen.head else 1.0)
    assert cell("clean", MIXED).blocked > 0.2


def test_the_same_seed_gives_the_same_numbers() -> None:
    clean = Situation.of("clean", MIXED)
    assert simulate(clean, Gate(), 50) == simulate(clean, Gate(), 50)
    assert simulate(clean, Gate(), 50, seed=1) != simulate(clean, Gate(), 50)


def test_rates_never_fall_below_nothing() -> None:
    assert changed((0.2, 1.0), {0: -0.3}) == (0.0, 1.0)
    assert len(situations((0.3,))) == 5


def test_each_row_has_its_own_trials_and_history() -> None:
    plans = (TrialNumbers(5, 0), TrialNumbers(1, 20, most=9))
    first, second = drawn_history((1.0, 1.0), Gate(rows=plans), Random(0))
    assert (first.history, first.screening, first.most) == ((0, 0), 5, None)
    assert (second.history, second.screening, second.most) == ((20, 20), 1, 9)


def test_a_limit_of_trials_that_confirms_nothing_blocks_nothing() -> None:
    dead = Situation.of("dead", (1.0,), (0.0,))
    assert simulate(dead, Gate(rows=(TrialNumbers(3, 40, most=5),)), 20).blocked == 0
    assert simulate(dead, Gate(rows=(TrialNumbers(3, 40),)), 20).blocked == 1
