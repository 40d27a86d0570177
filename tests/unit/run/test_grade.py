"""Which trials are judged, and which are judged again after an outage."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests import make
from tidegate.checks.evaluators.composite import CompositeEvaluator
from tidegate.checks.evaluators.rubric_judge import RubricJudge
from tidegate.checks.gates.text_gates import FileExists
from tidegate.checks.rubrics.asking import Criterion
from tidegate.model.event import CommandResult, Message
from tidegate.model.judge import ModelAnswer, Reply, ReplyEnd
from tidegate.model.probe import CommandAnswer, FileAnswer
from tidegate.model.trial import Trial
from tidegate.run.grade import without_lost

TWO_MODELS = CompositeEvaluator.model_validate(
    {
        "evaluators": [
            {"type": "llm_judge", "name": "one"},
            {"type": "code_judge", "script": "x"},
            {"type": "llm_judge", "name": "two"},
        ]
    }
)
SCENARIO = make.scenario(
    gates=(FileExists(type="file_exists", path="x"),),
    evaluators=(TWO_MODELS,),
    judge=RubricJudge(criteria=(Criterion(id="good", description="It is good.", weight=1),)),
)
SCRIPT = CommandAnswer(result=CommandResult(command="x", end="exited", exit_code=0))


def said(*answers: Any) -> ModelAnswer:
    """The replies of as many samples: an answer, or how it was lost."""
    return ModelAnswer(replies=tuple(_reply(number, one) for number, one in enumerate(answers, 1)))


def _reply(sample: int, answer: Any) -> Reply:
    if isinstance(answer, str):
        return Reply.model_validate({"sample": sample, "end": answer, "message": answer})
    return Reply(sample=sample, text=json.dumps(answer))


GOOD, WHOLE = said({"score": 1}), said({"scores": {"good": 1}})


def trial(evaluator: Any = (SCRIPT, GOOD, GOOD), judge: Any = (WHOLE,), **more: Any) -> Trial:
    fields = {
        "events": (Message(text="done"),),
        "answers": (FileAnswer(state="present", text="x"),),
        "evaluator_answers": (evaluator,),
        "judge_answers": judge,
    }
    return make.trial(**fields | more)


def test_what_was_judged_is_left_alone() -> None:
    assert without_lost(trial(), SCENARIO) is None


@pytest.mark.parametrize("end", ["outage", "timeout", "auth", "no_judge", "failed", "budget"])
def test_what_was_lost_goes_before_the_judge_again_and_the_rest_is_paid(end: ReplyEnd) -> None:
    left = without_lost(trial(judge=(said(end),)), SCENARIO)
    assert left is not None
    assert left.judge_answers == ()
    assert left.evaluator_answers == ((SCRIPT, GOOD.as_cached(), GOOD.as_cached()),)
    assert all(reply.cached for answer in left.evaluator_answers[0][1:] for reply in answer.replies)


def test_of_an_evaluator_that_lost_an_answer_the_scripts_stay() -> None:
    """Their workspace is gone; the models' answers are in the store, each under its question."""
    left = without_lost(trial(evaluator=(SCRIPT, said("outage"), GOOD)), SCENARIO)
    assert left is not None
    assert left.evaluator_answers == ((SCRIPT,),)
    assert left.judge_answers == (WHOLE.as_cached(),)


def test_a_trial_whose_judging_was_cut_off_goes_on() -> None:
    left = without_lost(trial(evaluator=(SCRIPT,), judge=()), SCENARIO)
    assert left is not None
    assert (left.evaluator_answers, left.judge_answers) == (((SCRIPT,),), ())


def test_a_sample_that_was_lost_is_no_matter_where_most_were_read() -> None:
    whole = {"scores": {"good": 1}}
    assert without_lost(trial(judge=(said(whole, whole, "outage"),)), SCENARIO) is None
    assert without_lost(trial(judge=(said(whole, "outage"),)), SCENARIO) is not None


def test_what_a_gate_settled_or_nobody_measured_is_not_judged_later_either() -> None:
    lost = (said("outage"),)
    assert without_lost(trial(judge=lost, answers=(FileAnswer(state="missing"),)), SCENARIO) is None
    assert without_lost(trial(judge=lost, not_measured="outage"), SCENARIO) is None
