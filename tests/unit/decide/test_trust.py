"""Agreement of raters, and the calibration of a panel on 20 labels; every number is counted by hand."""

from __future__ import annotations

import json

import pytest

from tests import make
from tidegate.checks.evaluators.assess import advance
from tidegate.checks.evaluators.rubric_judge import RubricJudge
from tidegate.checks.rubrics.asking import Criterion
from tidegate.decide.trust import agreement_rate, calibrate, cohens_kappa
from tidegate.model.evaluator import EvaluatorRecord, Score
from tidegate.model.judge import ModelAnswer, Reply
from tidegate.model.judge_result import JudgeResult, Label
from tidegate.model.measurement import TrialResult


def test_a_table_computed_by_hand() -> None:
    table = {("met", "met"): 20, ("met", "unmet"): 5, ("unmet", "met"): 10, ("unmet", "unmet"): 15}
    assert agreement_rate(table) == 0.7
    assert cohens_kappa(table) == pytest.approx(0.4)  # (.7 − .5) / (1 − .5): .5 = .5·.6 + .5·.4


@pytest.mark.parametrize("table", [{}, {("met", "met"): 9}])
def test_where_chance_agrees_every_time_there_is_no_kappa(table: dict[tuple[str, str], int]) -> None:
    assert cohens_kappa(table) is None


RUBRIC = RubricJudge(criteria=(Criterion(id="kept", description="It is kept.", weight=1),))
# Which of the trials 1 to 20 each finds met. Trials 1 to 10 are, by the person.
MET = {
    "person": {*range(1, 11)},
    "a": {*range(1, 10), 19, 20},
    "b": {*range(1, 7), 11, 12},
    "c": {*range(1, 9), 18},
}
JUDGES = ("a", "b", "c")


def trial(number: int) -> TrialResult:
    replies = tuple(
        Reply(judge=place, model=name, text=json.dumps({"scores": {"kept": 0.9 if number in MET[name] else 0.1}}))
        for place, name in enumerate(JUDGES)
    )
    score = make.typed(Score, advance(RUBRIC, EvaluatorRecord(binary="t", prompt="p"), [ModelAnswer(replies=replies)]))
    judged = JudgeResult(weighted_score=score.value, pass_threshold=0.7, judgement=score.judgement)
    return make.trial_result(index=number, judge=judged)


def test_kappa_of_the_panel() -> None:
    trials = [trial(number) for number in range(1, 21)]
    labels = [
        Label(trial=one.id, criterion="kept", verdict="met" if one.index in MET["person"] else "unmet")
        for one in trials
    ]
    found = calibrate(labels, trials, "a + b + c")

    # Half of the labels are met, so that chance agrees in half of them, and kappa is (agreement − .5) / .5.
    # Two of three find 1 to 8 met, and no other: the panel errs on 9 and 10 alone.
    assert tuple(found.table.values()) == (8, 2, 0, 10)
    assert (found.labels, found.agreement) == (20, 18 / 20)
    assert found.kappa == pytest.approx(0.8)
    # All three agree on 12 trials (1 to 6, 10, 13 to 17), one pair of three on the other 8.
    assert found.panel_agreement == pytest.approx((12 * 3 + 8) / 60)
