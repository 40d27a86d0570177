"""Success over the suite and the size of a named drop: how far their intervals can be relied on."""

from __future__ import annotations

from random import Random

import pytest

from tests.make import sure
from tests.unit.decide.comparison.test_compare import compared, run, with_history
from tidegate.decide.comparison.compare import compare
from tidegate.decide.comparison.one_row import NAMED_CONFIDENCE
from tidegate.decide.comparison.whole_suite import Successes, success_over
from tidegate.decide.statistics.rates import newcombe
from tidegate.lab.simulate import Gate, Situation, drawn_history, judge

MIXED = (1.0,) * 5 + (0.95,) * 5 + (0.8,) * 5 + (0.5,) * 5
PRS = 300


@pytest.mark.parametrize("history", [40, 0])
@pytest.mark.parametrize("drop", [0.0, 0.1])
def test_success_over_the_suite_is_unbiased_and_its_interval_covers(history: int, drop: float) -> None:
    """By the trials that reports use: a 90 % interval (± 3.5 points here), and a bias of at most two points."""
    situation = Situation.of("suite", MIXED, tuple(max(0.0, rate - drop) for rate in MIXED))
    truth = sum(situation.head) / len(MIXED) - sum(situation.base) / len(MIXED)
    gate, chance, shifts, covered = Gate(3, history), Random(1), [], 0
    for _ in range(PRS):
        facts = drawn_history(situation.past, gate, chance)
        rows = judge(situation, gate, facts, chance).report.rows
        effect = success_over([Successes(row.head, row.compared_with) for row in rows])
        low, high = sure(effect.interval)
        shifts.append(sure(effect.difference) - truth)
        covered += low <= truth <= high
    assert abs(sum(shifts) / PRS) < 0.02
    assert covered / PRS >= 0.85, "a run that ends at its first regression has fewer trials of the other rows"


def test_trials_that_were_run_because_of_a_suspicion_do_not_move_the_success_over_the_suite() -> None:
    suite = compared("a base:PPP head:PPF|FFFFF").suite
    assert suite.difference == pytest.approx(-1 / 3)


def test_once_base_has_changed_its_success_is_not_compared() -> None:
    line = "docs base:|FFFFFFFFFFFF head:FFF|FFFFFFFFFFFF"
    found = compare(with_history(run("base", line), "P" * 40), run("head", line))
    assert found.rows[0].state == "baseline_changed"
    told = (found.suite.base_rate, found.suite.head_rate, found.suite.difference, found.suite.interval)
    assert told == (None, None, None, None)


# --- the size of a named drop


@pytest.mark.parametrize(("base", "drop"), [(1.0, 0.2), (1.0, 0.3), (0.8, 0.3)])
def test_the_true_drop_is_at_least_what_a_named_row_is_said_to_drop_by(base: float, drop: float) -> None:
    """An interval of 95 % covers 44 to 93 % of these."""
    gate, chance, covered, named = Gate(), Random(1), 0, 0
    situation = Situation.of("one row", (base,), (base - drop,))
    while named < 60:
        end = judge(situation, gate, drawn_history(situation.past, gate, chance), chance).report.rows[0].paired
        if end is not None and end.found == "regressed":
            named += 1
            covered += newcombe(*end.head, *end.base, NAMED_CONFIDENCE)[1] >= -drop
    assert covered >= 0.97 * named
