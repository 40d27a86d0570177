"""A panel of judges: majority for yes or no, median for scores. Each number is computed by hand beside it."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tidegate.checks.evaluators.assess import advance
from tidegate.checks.evaluators.rubric_judge import RubricJudge
from tidegate.checks.evaluators.rubrics import Rubrics
from tidegate.checks.rubrics.asking import Criterion
from tidegate.model.evaluator import Evaluator, EvaluatorRecord, Score
from tidegate.model.event import Message
from tidegate.model.judge import AskModel, ModelAnswer, Reply

CRITERIA = (Criterion(id="a", description="A", weight=0.5), Criterion(id="b", description="B", weight=0.5))
RUBRIC = RubricJudge(criteria=CRITERIA)
CHECKS = Rubrics.model_validate({"type": "rubrics", "rubrics": [{"id": "a", "description": "A"}]})
RECORD = EvaluatorRecord(binary="t", prompt="Do it.", events=(Message(text="Done."),))


def reply(judge: int, said: Any, sample: int = 1) -> Reply:
    return Reply(judge=judge, sample=sample, model=f"m{judge}", text=json.dumps(said))


def scores(a: float, b: float) -> dict[str, Any]:
    return {"scores": {"a": a, "b": b}}


def met(a: bool) -> dict[str, Any]:
    return {"checks": [{"id": "a", "reasoning": "", "satisfied": a}]}


def judged(evaluator: Evaluator, *replies: Reply) -> Score:
    step = advance(evaluator, RECORD, [ModelAnswer(replies=replies)])
    assert isinstance(step, Score), step
    return step


def test_the_median_of_the_judges_scores_counts() -> None:
    found = judged(RUBRIC, reply(0, scores(0.9, 0.2)), reply(1, scores(0.5, 0.4)), reply(2, scores(0.8, 0.9)))
    assert found.details == {"a": 0.8, "b": 0.4}
    assert found.value == pytest.approx(0.6)
    assert found.judgement is not None
    assert [(one.judge, one.model, one.scores) for one in found.judgement.panel] == [
        (0, "m0", {"a": 0.9, "b": 0.2}),
        (1, "m1", {"a": 0.5, "b": 0.4}),
        (2, "m2", {"a": 0.8, "b": 0.9}),
    ]
    # met at 0.7: a is yes, no, yes; b is no, no, yes: one pair of three agrees on each
    assert found.judgement.panel_agreement == pytest.approx(1 / 3)
    assert found.judgement.agreement is None


def test_samples_of_one_judge_are_one_opinion() -> None:
    """Three samples of the first judge are its median, 0.9; the panel's median of 0.9, 0.1, 0.2 is 0.2."""
    own = [reply(0, scores(one, one), sample) for sample, one in enumerate((0.9, 0.8, 1), 1)]
    found = judged(RUBRIC, *own, reply(1, scores(0.1, 0.1)), reply(2, scores(0.2, 0.2)))
    assert found.value == pytest.approx(0.2)
    assert found.judgement is not None
    assert found.judgement.agreement == 1.0


@pytest.mark.parametrize(
    ("said", "value"), [((True, True, False), 1), ((True, False, False), 0), ((True, False), 0), ((True, True), 1)]
)
def test_the_majority_says_yes_and_a_tie_is_no(said: tuple[bool, ...], value: int) -> None:
    assert judged(CHECKS, *(reply(judge, met(one)) for judge, one in enumerate(said))).value == value


def test_a_judge_that_cannot_say_is_no_vote() -> None:
    """The first judge's two samples are a tie, which is a no; the second says yes: together a tie again."""
    tie = [reply(0, met(True)), reply(0, met(False), 2)]
    assert judged(CHECKS, *tie, reply(1, met(True))).value == 0


def test_more_than_half_of_the_panel_has_to_answer() -> None:
    lost = Reply(judge=1, end="outage", message="busy")
    found = judged(RUBRIC, reply(0, scores(1, 1)), lost, reply(2, scores(0.5, 0.5)))
    assert found.value == pytest.approx(0.75)  # the median of 1 and 0.5
    found = judged(RUBRIC, reply(0, scores(1, 1)), lost, lost.model_copy(update={"judge": 2}))
    assert (found.missing, found.reason) == ("judge", "busy (1 of 3 samples could be read)")


def test_only_the_judge_whose_answer_cannot_be_read_is_asked_again() -> None:
    unread = Reply(judge=1, model="m1", text="no")
    step = advance(RUBRIC, RECORD, [ModelAnswer(replies=(reply(0, scores(1, 1)), unread))])
    assert isinstance(step, AskModel)
    assert step.again == ((1, 1),)
    assert step.to_judge(0) is None
    own = step.to_judge(1)
    assert own is not None
    assert own.samples == (1,)


def test_a_judge_whose_answer_cannot_be_read_is_noted_and_one_that_an_outage_took_is_not() -> None:
    """What a trial leaves behind can cause the first, so that a median of three becomes one of two."""
    others = reply(0, scores(1, 1)), reply(2, scores(0.5, 0.5))
    lost = Reply(judge=1, model="m1", end="failed", message="too long")
    assert judged(RUBRIC, *others, lost).notes == ("m1 gives no answer that can be read",)
    assert judged(RUBRIC, *others, lost.model_copy(update={"end": "outage"})).notes == ()
