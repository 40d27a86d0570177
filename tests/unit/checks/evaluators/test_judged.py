"""Evaluators with a judge: the scores for its answers. Each expected number is computed by hand beside it."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.make import sure, typed
from tests.unit.checks.evaluators.records import EVALUATOR, record, score
from tidegate.checks.evaluators.assess import advance
from tidegate.checks.evaluators.rubric_judge import RubricJudge
from tidegate.checks.rubrics.asking import Criterion
from tidegate.model.evaluator import EvaluatorRecord, Score
from tidegate.model.event import Message
from tidegate.model.judge import AskModel, ModelAnswer, Reply, ReplyEnd

ITEMS = [
    {"id": "a", "description": "A", "weight": 1},
    {"id": "b", "description": "B", "weight": 2},
    {"id": "c", "description": "C", "weight": 2},
    {"id": "d", "description": "D", "weight": 1.5, "required": False},
    {"id": "e", "description": "E", "weight": 1},
]
CRITERIA = (
    Criterion(id="command_correctness", description="x", weight=0.3),
    Criterion(id="task_completion", description="y", weight=0.4),
    Criterion(id="efficiency", description="z", weight=0.3),
)
JUDGE = RubricJudge(criteria=CRITERIA)
RECORD = EvaluatorRecord(binary="t", prompt="Do it.", events=(Message(text="Done."),))


def answer(*values: Any, **reply: Any) -> ModelAnswer:
    """What the model said, a value for each sample."""
    texts = [value if isinstance(value, str) else json.dumps(value) for value in values]
    return ModelAnswer(replies=tuple(Reply(sample=n, text=text, **reply) for n, text in enumerate(texts, 1)))


def checks(*met: str, ids: str = "abcde") -> dict[str, Any]:
    return {"checks": [{"id": one, "satisfied": one in met, "reasoning": f"why {one}"} for one in ids]}


def judged(*answers: ModelAnswer, judge: RubricJudge = JUDGE) -> Score:
    step = advance(judge, RECORD, answers)
    assert isinstance(step, Score), f"it asks for more: {step}"
    return step


def scores(a: object, b: object, c: object, **more: object) -> dict[str, Any]:
    names = [criterion.id for criterion in CRITERIA]
    return {"scores": [{"id": n, "reason": n, "score": s} for n, s in zip(names, (a, b, c), strict=True)], **more}


# --- inline rubrics


def test_an_optional_rubric_that_is_unmet_costs_its_weight() -> None:
    found = score(record(), answer(checks("a", "b", "c", "e")), type="rubrics", rubrics=ITEMS)
    assert found.value == pytest.approx(0.80)  # 6 / 7.5
    assert found.verdict == "pass"


def test_a_required_rubric_that_is_unmet_fails_the_whole() -> None:
    found = score(record(), answer(checks("a", "c", "d", "e")), type="rubrics", rubrics=ITEMS)
    assert found.value == pytest.approx(5.5 / 7.5)
    assert found.verdict == "fail"
    assert found.reason == "b is not met: why b"


@pytest.mark.parametrize(
    "said", [{"checks": []}, checks("a", ids="a"), checks(ids="aab"), checks(ids="abx"), {}, "fine", [1]]
)
def test_an_answer_without_each_check_once_is_no_answer(said: Any) -> None:
    found = score(record(), answer(said), answer(said), answer(said), type="rubrics", rubrics=["a", "b"])
    assert (found.value, found.missing) == (None, "unreadable_judge")


def test_half_of_the_samples_do_not_meet_a_check() -> None:
    found = score(record(), answer(checks("a", ids="a"), checks(ids="a")), type="rubrics", rubrics=ITEMS[:1])
    assert found.value == 0
    assert sure(found.judgement).agreement == 0


# --- the scenario's judge


def test_the_weighted_score_is_computed_and_not_believed() -> None:
    found = judged(answer(scores(0.85, 0.90, 0.70, weighted_score=0.83)))
    assert found.value == pytest.approx(0.825)  # .3·.85 + .4·.90 + .3·.70
    found = judged(answer(scores(0.85, 0.90, 0.70, weighted_score=1)))
    assert found.value == pytest.approx(0.825)


def test_scores_may_be_a_mapping_as_in_llm_tool_test() -> None:
    said = {
        "scores": {"command_correctness": 1, "task_completion": 0.5, "efficiency": 0},
        "reasons": {"efficiency": "No."},
    }
    found = judged(answer(said))
    assert found.value == pytest.approx(0.5)
    assert sure(found.judgement).criteria[2].reason == "No."


def test_medians_count_and_the_spread_is_shown() -> None:
    found = judged(answer(scores(0.9, 0.9, 0.2), scores(0.8, 0.9, 0.9), scores(0.7, 0.9, 0.8)))
    assert found.value == pytest.approx(0.3 * 0.8 + 0.4 * 0.9 + 0.3 * 0.8)
    assert sure(found.judgement).criteria[2].spread == pytest.approx(0.7)
    # three criteria, three pairs each; only of the last criterion two pairs disagree at 0.7
    assert sure(found.judgement).agreement == pytest.approx(7 / 9)


def test_a_sample_that_cannot_be_read_is_asked_for_again_alone() -> None:
    first = answer(scores(1, 1, 1), "no", scores(1, 1, 1))
    step = typed(AskModel, advance(JUDGE, RECORD, [first]))
    assert (step.attempt, step.again) == (2, ((0, 2),))
    again = ModelAnswer(replies=(Reply(sample=2, text=json.dumps(scores(0, 0, 0))),))
    assert judged(first, again).value == 1  # the median of 1, 0, 1


def test_half_of_the_samples_are_not_enough() -> None:
    lost = ModelAnswer(replies=(Reply(sample=2, end="outage", message="busy"),))
    first = ModelAnswer(replies=(*answer(scores(1, 1, 1)).replies, *lost.replies))
    found = judged(first)
    assert (found.value, found.missing) == (None, "judge")
    assert found.reason == "busy (1 of 2 samples could be read)"


def test_samples_that_were_lost_to_an_outage_and_to_the_answer_itself_count_by_what_would_have_been_enough() -> None:
    def lost(*ends: ReplyEnd) -> ModelAnswer:
        return ModelAnswer(replies=tuple(Reply(sample=n, end=end, text="?") for n, end in enumerate(ends, 1)))

    assert judged(lost("failed", "outage", "outage")).missing == "judge"
    assert judged(lost("failed", "failed", "outage")).missing == "unreadable_judge"


@given(st.lists(st.floats(0, 1), min_size=3, max_size=3))
def test_a_score_lies_between_its_criteria(given_scores: list[float]) -> None:
    value = judged(answer(scores(*given_scores))).value
    assert value is not None
    assert min(given_scores) - 1e-9 <= value <= max(given_scores) + 1e-9


@pytest.mark.parametrize(
    "text", ['{"scores": {"command_correctness": 1, "command_correctness": 0}}', "null", "[]", "[" * 200]
)
def test_what_is_no_answer_stays_none_however_often_it_comes(text: str) -> None:
    found = judged(*[answer(text)] * 3)
    assert (found.value, found.missing) == (None, "unreadable_judge")


def test_criteria_come_in_another_order_in_another_sample_and_the_same_each_time() -> None:
    many = tuple(Criterion(id=f"c{n}", description="x", weight=1 / 8) for n in range(8))
    step = typed(AskModel, advance(RubricJudge(criteria=many), RECORD, ()))
    assert step.prompt(1) == step.prompt(1)
    assert len({step.prompt(sample) for sample in range(1, 9)}) == 8
    assert {"".join(sorted(step.prompt(sample))) for sample in range(1, 9)} == {"".join(sorted(step.prompt(1)))}


# --- llm_judge, composite, plan


def test_an_llm_judge_gives_one_score() -> None:
    said = {"score": 0.7, "hits": ["short"], "misses": ["no source"], "reasoning": "Right, but."}
    found = score(record(said="x"), answer(said), type="llm_judge")
    assert (found.value, found.verdict, found.reason) == (0.7, "borderline", "Right, but.")
    assert (found.hits, found.misses) == (("short",), ("no source",))


def test_a_prompt_of_ones_own_gets_the_variables_in_fences() -> None:
    judge = EVALUATOR.validate_python({"type": "llm_judge", "prompt": "Q: {{question}} A: {{ candidate_answer }}"})
    step = typed(AskModel, advance(judge, record(said="the {{question}} is open"), ()))
    assert step.before.count("<data ") == 2
    assert "the {{question}} is open" in step.before  # what the agent says is no variable


def one(value: float) -> ModelAnswer:
    return answer({"score": value, "hits": [], "misses": [], "reasoning": ""})


def judge_named(name: str) -> dict[str, Any]:
    return {"type": "llm_judge", "name": name}


def test_a_model_aggregates_what_the_members_said() -> None:
    fields = {"type": "composite", "evaluators": [judge_named("a")], "aggregator": {"type": "llm_judge"}}
    step = typed(AskModel, advance(EVALUATOR.validate_python(fields), record(said="x"), [one(0.2)]))
    assert '"score": 0.2' in step.before
    assert score(record(said="x"), one(0.2), one(0.4), **fields).value == 0.4


def test_a_member_that_could_not_be_judged_is_no_zero() -> None:
    lost = ModelAnswer(replies=(Reply(end="outage", message="busy"),))
    found = score(record(said="x"), lost, type="composite", evaluators=[judge_named("a")])
    assert (found.value, found.missing, found.reason) == (None, "judge", "a: busy")


@pytest.mark.parametrize(
    ("field", "value"), [("confidence", 0.8), ("issues", ["none seen"]), ("highlights", []), ("weighted_score", 1)]
)
def test_a_field_that_the_rubric_requires_must_be_in_the_answer(field: str, value: object) -> None:
    """An answer without it cannot be read, so the trial is not measured. Tidegate computes `weighted_score`."""
    judge = JUDGE.model_copy(update={"require_fields": ("scores", field)})
    without = judged(*[answer(scores(1, 1, 1))] * 3, judge=judge)
    if field == "weighted_score":
        assert without.value == 1
    else:
        assert without.value is None
        assert without.reason == f"the answer cannot be read: it has no `{field}`, which the rubric requires"
    assert judged(answer(scores(1, 1, 1, **{field: value})), judge=judge).value == 1
