"""The evaluators of the three layers: plan, tools, parameters and state."""

from __future__ import annotations

import json
from typing import Any

import pytest
from pydantic import ValidationError

from tests.unit.checks.evaluators.records import exited, record, score
from tidegate.model.probe import FileAnswer

STATE = json.dumps({"tasks": [{"id": 1, "done": True}], "count": 1.0, "a.b": "dotted"})


# expected_state


def test_state_is_compared_field_by_field_and_by_type() -> None:
    expected = {"tasks.0.done": True, "count": 1, "tasks.0.id": "1", "tasks.1.id": 2, "a.b": "dotted"}
    given = score(record(), exited(STATE), type="expected_state", command="export", expected=expected)
    assert given.value == 3 / 5
    assert given.reason == 'tasks.0.id is 1, expected "1"; tasks.1.id is missing, expected 2'


def test_a_task_is_complete_if_every_field_is_as_expected() -> None:
    """As Agent Surface grades it: four of five fields are a task that is not done, whatever the share."""
    expected = {"invoice.status": "sent", "invoice.id": "inv_01", "customer": "c", "sum": 5, "draft": False}
    state = '{"invoice": {"status": "STATUS", "id": "inv_01"}, "customer": "c", "sum": 5, "draft": false}'
    rule = {"type": "expected_state", "command": "export", "expected": expected}
    sent, draft = (score(record(), exited(state.replace("STATUS", status)), **rule) for status in ("sent", "draft"))
    assert (sent.value, sent.verdict) == (1, "pass")
    assert (draft.value, draft.verdict) == (0.8, "fail")


def test_no_state_scores_0_and_says_why() -> None:
    by_command = {"type": "expected_state", "command": "x", "expected": {"a": 1}}
    by_file = {"type": "expected_state", "file": "out.json", "expected": {"a": 1}}
    assert score(record(), exited("prose"), **by_command).reason.startswith("no state: it is not JSON")
    assert score(record(), exited("", 2, stderr="broken"), **by_command).reason == "no state: exit 2: broken"
    missing = score(record(), FileAnswer(state="missing"), **by_file)
    assert (missing.value, missing.reason) == (0, "no state: the file is missing")
    assert score(record(), FileAnswer(state="present", text='{"a": 1}'), **by_file).value == 1


# tool_f1


@pytest.mark.parametrize(
    ("expected", "called", "f1", "precision", "recall", "routing"),
    [
        ("AB", "AB", 1, 1, 1, 1),
        ("AB", "ABC", 4 / 5, 2 / 3, 1, 2 / 3),  # extra calls cost, in routing too
        ("AAB", "AB", 4 / 5, 1, 2 / 3, 1 / 3),  # multisets
        ("AB", "BA", 1, 1, 1, 0),
        ("AB", "", 0, None, 0, 0),
    ],
)
def test_f1(expected: str, called: str, f1: float, precision: float | None, recall: float, routing: float) -> None:
    given = score(record(*called), type="tool_f1", expected=list(expected))
    details = given.details
    assert given.value == pytest.approx(f1)
    assert details.get("tool_precision") == (None if precision is None else pytest.approx(precision))
    assert (details["tool_recall"], details["tool_routing_accuracy"]) == pytest.approx((recall, routing))


def test_f1_without_a_trace_is_not_measured() -> None:
    assert score(record(traced=False), type="tool_f1", expected=["A"]).missing == "no_trace"


# parameters

SCHEMA = {"type": "object", "required": ["q"], "properties": {"q": {"type": "string"}}}


def test_parameters_are_the_mean_of_both_shares() -> None:
    made = record(("search", {"q": "tides"}, ""), ("search", {"q": 5}, ""), ("other", {}, ""))
    rule: dict[str, Any] = {"type": "parameters", "schemas": {"search": SCHEMA}}
    assert score(made, **rule).details == {"parameter_schema_valid": 0.5}
    reference = {"search": {"q": "tides", "limit": 3}, "never": {"x": 1}}  # 1 of 3 arguments match
    given = score(made, **rule, reference=reference)
    assert given.details == {"parameter_schema_valid": 0.5, "parameter_semantic": pytest.approx(1 / 3)}
    assert given.value == pytest.approx((1 / 2 + 1 / 3) / 2)
    assert given.reason == "search: $.q: 5 is not of type 'string'"


def test_parameters_of_tools_that_were_not_called() -> None:
    assert score(record("other"), type="parameters", schemas={"search": SCHEMA}).missing == "evaluator"
    assert score(record("other"), type="parameters", reference={"search": {"q": 1}}).value == 0


def test_a_schema_never_reaches_for_the_network() -> None:
    remote = {"search": {"$ref": "http://localhost:1/schema.json"}}
    given = score(record(("search", {}, "")), type="parameters", schemas=remote)
    assert given.missing == "evaluator"
    assert given.reason.startswith("a schema refers to what is not in it")


# plan


def test_a_plan_in_the_first_message() -> None:
    made = record("search", "write", said="I will `search`, then read, and then write the answer.")
    given = score(made, type="plan", **{"from": "first_message"}, expected=["search", "read", "write", "check"])
    assert given.value == 3 / 4
    assert given.details == {"plan_adherence": pytest.approx(2 / 3)}


def test_a_plan_may_be_steps_that_name_their_tool() -> None:
    """As in Agent Surface's grader: `[step["tool"] for step in plan]`."""
    steps = '[{"tool": "get_invoice", "why": "to read it"}, {"note": "then"}, {"tool": "send_invoice"}]'
    rule = {"type": "plan", "expected": ["get_invoice", "send_invoice"]}
    assert score(record(said=steps), **rule, **{"from": "first_message"}).value == 1
    assert score(record(said=f'{{"plan": {steps}}}'), **rule, **{"from": "field", "path": "$.plan"}).value == 1


def test_a_plan_in_a_file_and_in_a_field() -> None:
    file = {"type": "plan", "from": "file", "file": "plan.json", "expected": ["a", "b"]}
    assert score(record(), FileAnswer(state="present", text='["b", "a"]'), **file).value == 0.5
    assert score(record(), FileAnswer(state="missing"), **file).reason == "no plan: the file is missing"
    field = {"type": "plan", "from": "field", "path": "$.steps[*].tool", "expected": ["a", "b"]}
    assert score(record(said='{"steps": [{"tool": "a"}, {"tool": "b"}]}'), **field).value == 1
    assert score(record(said="prose"), **field).value == 0
    assert score(record(), **field).missing == "no_trace"


@pytest.mark.parametrize(
    "wrong",
    [
        {"type": "expected_state", "expected": {"a": 1}},
        {"type": "expected_state", "command": "x", "file": "y", "expected": {"a": 1}},
        {"type": "expected_state", "command": "x", "expected": {}},
        {"type": "tool_f1", "expected": []},
        {"type": "parameters"},
        {"type": "parameters", "schemas": {"a": {"type": "strnig"}}},
        {"type": "plan", "from": "file", "expected": ["a"]},
        {"type": "plan", "from": "first_message", "path": "$.x", "expected": ["a"]},
        {"type": "tool_f1", "expected": ["a"], "weight": -1},
    ],
)
def test_a_wrong_definition_is_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises(ValidationError):
        score(record(), **wrong)
