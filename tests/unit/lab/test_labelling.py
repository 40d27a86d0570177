"""The order in which judged trials are shown for labelling."""

from __future__ import annotations

from tests.make import trial_result
from tidegate.lab.labels import items
from tidegate.model.evaluator import CriterionScore, Judgement
from tidegate.model.judge_result import JudgeResult, Label
from tidegate.model.measurement import TrialResult


def trial(index: int, score: float, spread: float = 0.0, scenario: str = "s") -> TrialResult:
    said = Judgement(criteria=(CriterionScore(id="c", score=score, spread=spread),), met=0.7)
    return trial_result(index=index, scenario=scenario, judge=JudgeResult(pass_threshold=0.7, judgement=said))


TRIALS = [trial(1, 0.9), trial(2, 0.2), trial(3, 0.8, 0.5), trial(4, 0.9, scenario="odd"), trial(5, 0.75, 0.9)]
TRIALS += [trial(6, 0.7, 0.1), trial(7, 0.3, 0.3)]  # the first on both sides of 0.7, the second below it for sure


def test_samples_that_disagree_then_failures_then_unconfirmed_rows_then_the_rest() -> None:
    found = items(TRIALS, [], {("odd", "a")})
    assert [item.trial.index for item in found] == [5, 3, 6, 7, 2, 4, 1]


def test_what_has_a_label_is_not_asked_again() -> None:
    labels = [Label(trial="head/s/a/5", criterion="c", verdict="met")]
    assert [item.trial.index for item in items(TRIALS, labels)] == [3, 6, 7, 2, 1, 4]
