"""Evaluators of evaluators."""

from __future__ import annotations

import json
from typing import Any

import pytest
from pydantic import ValidationError

from tests.unit.checks.evaluators.records import EVALUATOR, exited, record, score
from tidegate.checks.evaluators.assess import advance
from tidegate.model.evaluator import Score
from tidegate.model.judge import ModelAnswer, Reply
from tidegate.model.probe import Answer, RunJudge


def order(name: str, tools: str, **fields: Any) -> dict[str, Any]:
    expected = [{"tool": tool} for tool in tools]
    return {"type": "tool_trajectory", "name": name, "mode": "in_order", "expected": expected, **fields}


def test_a_weighted_average_by_the_members_weights_and_by_its_own() -> None:
    members = [order("all", "AB", weight=3), order("half", "AX", weight=1)]
    composite = {"type": "composite", "evaluators": members}
    assert score(record(*"AB"), **composite).value == pytest.approx((3 * 1 + 1 * 0.5) / 4)
    weights = {"type": "weighted_average", "weights": {"all": 1}}
    assert score(record(*"AB"), **composite, aggregator=weights).value == pytest.approx((1 * 1 + 1 * 0.5) / 2)


def test_composite_inside_composite() -> None:
    inner = {"type": "composite", "name": "inner", "evaluators": [order("a", "AB"), order("b", "XY")]}  # 1 and 0 → 0.5
    outer = score(record(*"AB"), type="composite", evaluators=[inner, order("c", "A", weight=3)])
    assert outer.value == pytest.approx((0.5 + 3) / 4)
    assert outer.details == {"inner": 0.5, "c": 1}


def test_a_member_with_weight_0_is_shown_and_counts_for_nothing() -> None:
    composite = score(record(*"AB"), type="composite", evaluators=[order("a", "AB"), order("b", "XY", weight=0)])
    assert (composite.value, composite.details) == (1, {"a": 1, "b": 0})


def test_a_failed_required_member_fails_it_whatever_the_mean() -> None:
    members = [order("a", "AB", weight=9), order("b", "XY", required=True)]
    given = score(record(*"AB"), type="composite", evaluators=members)
    assert given.value == pytest.approx(0.9)
    assert given.verdict == "fail"
    assert given.reason.startswith("b, which is required, did not pass: called A → B, expected X → Y")


@pytest.mark.parametrize(
    ("weight", "aggregator", "verdict"),
    [(1, {}, "fail"), (0, {}, "pass"), (1, {"aggregator": {"type": "code_judge", "path": "x"}}, "pass")],
)
def test_a_member_of_which_a_required_part_failed_fails_an_average(
    weight: float, aggregator: dict[str, Any], verdict: str
) -> None:
    """As in the scenario's own list. A script decides for itself what a missing field means."""
    state = {"type": "expected_state", "name": "s", "command": "x", "expected": {"a": 1}, "weight": weight}
    members = {"type": "composite", "evaluators": [state, order("a", "AB", weight=4)], **aggregator}
    given = score(record(*"AB"), exited("{}"), *[exited('{"score": 1}')] * len(aggregator), **members)
    assert given.verdict == verdict
    assert given.reason.startswith("s, of which a required part failed: a is missing" if verdict == "fail" else "")


def test_a_member_that_was_not_measured_makes_it_so() -> None:
    members = [{"type": "tool_f1", "name": "target", "expected": ["taskmgr:add"]}, order("a", "A")]
    made = record(traced=False, target="add")
    assert score(made, type="composite", evaluators=members).missing == "no_trace"
    members[1]["weight"] = 0
    assert score(made, type="composite", evaluators=members).value == 1


def test_a_script_aggregates_after_the_members_have_asked() -> None:
    members = [{"type": "code_judge", "name": "lint", "script": "lint"}, order("a", "AB")]
    aggregator = {"type": "code_judge", "path": "./merge.py"}
    composite = {"type": "composite", "evaluators": members, "aggregator": aggregator}

    question = advance(EVALUATOR.validate_python(composite), record(*"AB"), [exited('{"score": 0.25}')])
    assert isinstance(question, RunJudge)
    results = json.loads(question.stdin)["results"]
    assert {name: result["score"] for name, result in results.items()} == {"lint": 0.25, "a": 1}

    given = score(record(*"AB"), exited('{"score": 0.25}'), exited('{"score": 0.4, "reasoning": "meh"}'), **composite)
    assert (given.value, given.reason) == (0.4, "meh")


def test_what_looks_at_the_workspace_is_asked_before_any_model_however_deep() -> None:
    """The workspace is gone once a model is asked."""

    def pair(name: str) -> dict[str, Any]:
        members = [{"type": "llm_judge"}, {"type": "code_judge", "script": name}]
        return {"type": "composite", "name": name, "evaluators": members}

    composite = EVALUATOR.validate_python({"type": "composite", "evaluators": [pair("one"), pair("two")]})
    answers: list[Answer] = []
    asked = []
    while not isinstance(step := advance(composite, record(said="x"), answers), Score):
        asked.append(step.command if isinstance(step, RunJudge) else step.kind)
        said = ModelAnswer(replies=(Reply(text='{"score": 0.5}'),))
        answers.append(exited('{"score": 1}') if isinstance(step, RunJudge) else said)
    assert asked == ["one", "two", "model", "model"]
    assert step.value == 0.75


@pytest.mark.parametrize(
    ("wrong", "what"),
    [
        ({"evaluators": []}, "at least 1 item"),
        ({"evaluators": [order("a", "A"), order("a", "B")]}, "named `a`"),
        ({"evaluators": [order("a", "A", weight=0)]}, "above 0"),
        (
            {"evaluators": [order("a", "A")], "aggregator": {"type": "weighted_average", "weights": {"b": 1}}},
            "names `b`",
        ),
    ],
)
def test_what_says_nothing_is_refused(wrong: dict[str, Any], what: str) -> None:
    with pytest.raises(ValidationError, match=what):
        EVALUATOR.validate_python({"type": "composite", **wrong})
