"""Success over the suite: what it is estimated from, and how far its interval can be relied on."""

from __future__ import annotations

from random import Random

import pytest

from tests.unit.decide.comparison.test_compare import compared, run, with_history
from tidegate.decide.comparison.compare import compare
from tidegate.decide.comparison.whole_suite import Successes, success_over
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
        assert effect.difference is not None
        assert effect.interval is not None
        shifts.append(effect.difference - truth)
        covered += effect.interval[0] <= truth <= effect.interval[1]
    assert abs(sum(shifts) / PRS) < 0.02
    assert covered / PRS >= 0.85, "a run that ends at its first regression has fewer trials of the other rows"


def test_trials_that_were_run_because_of_a_suspicion_do_not_move_the_success_over_the_suite() -> None:
    suite = compared("a base:PPP head:PPF|FFFFF").suite
    assert suite.difference == pytest.approx(-1 / 3)


def test_once_base_has_changed_its_success_is_not_compared() -> None:
    line = "docs base:|FFFFFFFFFFFF head:FFF|FFFFFFFFFFFF"
    found = compare(with_history(run("base", line), "P" * 40), run("head", line))
    assert found.rows[0].state == "baseline_changed"
    assert found.suite.model_dump(include={"base_rate", "head_rate", "difference", "interval"}) == {
        "base_rate": None,
        "head_rate": None,
        "difference": None,
        "interval": None,
    }
