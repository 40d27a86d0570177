"""Rubrics for each step of the agent. Each number is computed by hand beside it."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests import make
from tests.unit.checks.evaluators.records import record, score
from tidegate.checks.evaluators.assess import advance
from tidegate.checks.evaluators.rubrics import StepRubrics
from tidegate.decide.trust import opinions_of
from tidegate.model.evaluator import EvaluatorRecord
from tidegate.model.judge import AskModel, ModelAnswer, Reply
from tidegate.model.measurement import EvaluatorResult

FIELDS = {"type": "step_rubrics", "rubrics": [{"id": "a", "description": "A", "weight": 3}, "No step is repeated."]}
STEPS = [("bash", {"n": number}, f"out {number}") for number in range(1, 6)]


def said(a: list[Any], second: list[Any]) -> dict[str, Any]:
    """Both criteria with the steps that do not meet them."""
    unmet = [[{"step": step, "reason": f"why {step}"} for step in steps] for steps in (a, second)]
    return {"criteria": [{"id": name, "unmet": one} for name, one in zip(("a", "rubric-2"), unmet, strict=True)]}


def answer(*texts: Any, judge: int = 0) -> ModelAnswer:
    replies = (Reply(judge=judge, sample=n, text=json.dumps(text)) for n, text in enumerate(texts, 1))
    return ModelAnswer(replies=tuple(replies))


def test_a_score_is_the_share_of_steps_that_meet_a_criterion() -> None:
    """Of 5 steps, a is met at 4 (0.8) and the other at 3 (0.6): (3 · 0.8 + 0.6) / 4 = 0.75."""
    found = score(record(*STEPS), answer(said([2], [4, 5])), **FIELDS)
    assert found.value == pytest.approx(0.75)
    assert found.details == pytest.approx({"a": 0.8, "rubric-2": 0.6})
    assert found.reason == "rubric-2 0.60: step 4: why 4; step 5: why 5"
    assert not found.passes


def test_a_criterion_that_is_not_required_fails_nothing_by_itself() -> None:
    rubrics = [{"id": "a", "description": "A", "weight": 3}, {"id": "rubric-2", "description": "B", "required": False}]
    found = score(record(*STEPS), answer(said([], [4, 5])), type="step_rubrics", rubrics=rubrics)
    assert found.value == pytest.approx(0.9)
    assert (found.passes, found.verdict) == (True, "pass")


def test_samples_are_combined_by_their_median() -> None:
    """Shares of a: 1, 0.8, 0.2."""
    found = score(record(*STEPS), answer(said([], []), said([1], []), said([1, 2, 3, 4], [])), **FIELDS)
    assert found.details == pytest.approx({"a": 0.8, "rubric-2": 1})
    agreement = (1 / 3 + 1) / 2  # a: yes, yes, no; the other: always yes
    assert make.sure(found.judgement).agreement == pytest.approx(agreement)


def test_the_judge_sees_every_step_with_its_number_and_result() -> None:
    ask = make.typed(AskModel, advance(StepRubrics.model_validate(FIELDS), record(*STEPS), []))
    for number in range(1, 6):
        assert f"step {number}: [call] bash" in ask.before
        assert f"out {number}" in ask.before
    assert sorted(ask.items) == ["- `a`: A\n", "- `rubric-2`: No step is repeated.\n"]


def test_all_of_many_long_steps_have_room() -> None:
    """The middle of a transcript may be cut, a step may not be left out."""
    steps: list[Any] = [("bash", {}, 5000 * "x") for _ in range(400)]
    ask = make.typed(AskModel, advance(StepRubrics.model_validate(FIELDS), record(*steps), []))
    assert all(f"step {number}: " in ask.before for number in range(1, 401))


def test_recorded_calls_are_the_steps_of_an_agent_without_a_log() -> None:
    ask = make.typed(AskModel, advance(StepRubrics.model_validate(FIELDS), record(target="add list"), []))
    assert "step 1: add x [exit 0]\n\nstep 2: list x [exit 0]" in ask.before


def test_more_steps_than_have_room_are_not_measured() -> None:
    assert score(record(*(401 * ["bash"])), **FIELDS).value is None


def test_no_steps_are_not_measured() -> None:
    found = score(EvaluatorRecord(binary="t", prompt="p", events=()), **FIELDS)
    assert (found.value, found.reason) == (None, "the agent took no step that could be judged")


@pytest.mark.parametrize(
    ("wrong", "why"),
    [
        (said([6], []), "`a` names the step 6; there are 1 to 5, each once"),
        (said([0], []), "names the step 0"),
        (said([2, 2], []), "names the step 2"),
        (said([True], []), "names the step True"),
        (said(["2"], []), "names the step '2'"),
        ({"criteria": said([], [])["criteria"][:1]}, "the criterion `rubric-2` is missing"),
        ({"criteria": [{"id": "a"}, {"id": "rubric-2", "unmet": []}]}, "`unmet` of `a` is not a list"),
        ({"criteria": ["a"]}, "it has no list of `criteria`"),
    ],
)
def test_an_answer_out_of_form_is_asked_for_again_and_never_a_score(wrong: dict[str, Any], why: str) -> None:
    found = score(record(*STEPS), *(3 * [answer(wrong)]), **FIELDS)
    assert found.value is None
    assert why in found.reason


def test_a_person_s_labels_are_compared_with_what_is_met() -> None:
    found = score(record(*STEPS), answer(said([2], [4, 5])), **FIELDS)
    result = EvaluatorResult(
        name="steps", type="step_rubrics", score=found.value, verdict="fail", judged=True, judgement=found.judgement
    )
    opinions = opinions_of(make.trial_result(evaluators=(result,)))
    assert {name: mark for name, (mark, _) in opinions.items()} == {"steps/a": "met", "steps/rubric-2": "unmet"}
