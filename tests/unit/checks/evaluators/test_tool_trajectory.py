"""Trajectories: the table of the two seeds' mistakes, with our answers."""

from __future__ import annotations

import json
from typing import Any
from unittest.mock import Mock

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from tests.unit.checks.evaluators.records import record, score
from tidegate.checks.evaluators.matching import (
    ComparedCall,
    ExpectedCall,
    calls_of,
    common_length,
    matched,
    matches,
)
from tidegate.model.event import ToolCall, ToolResult


def calls(names: str) -> list[dict[str, str]]:
    return [{"tool": name} for name in names]


@pytest.mark.parametrize(
    ("mode", "expected", "called", "value"),
    [
        ("exact", "A", "ABC", 1 / 3),  # extra calls cost
        ("exact", "ABC", "XABC", 0),
        ("exact", "ABC", "ABC", 1),
        ("exact", "ABC", "AB", 2 / 3),
        ("exact", "A", "", 0),
        ("in_order", "ABC", "AC", 2 / 3),  # a missing step costs itself alone
        ("in_order", "ABC", "AXBYC", 1),
        ("in_order", "ABC", "CBA", 1 / 3),
        ("in_order", "ABCDEF", "ABCDE", 5 / 6),
        ("superset", "AB", "XBA", 1),
        ("superset", "AA", "A", 0),
        ("subset", "AB", "ABBA", 1),
        ("subset", "AB", "ABX", 0),
        ("subset", "AB", "", 1),
    ],
)
def test_modes(mode: str, expected: str, called: str, value: float) -> None:
    given = score(record(*called), type="tool_trajectory", mode=mode, expected=calls(expected))
    assert given.value == pytest.approx(value)


@pytest.mark.parametrize(
    ("minimums", "called", "value"),
    [({"A": 0}, "", 1), ({"A": 1}, "", 0), ({"A": 2, "B": 1}, "AA", 0.5), ({"A": 2, "B": 1}, "ABA", 1)],
)
def test_any_order_counts(minimums: dict[str, int], called: str, value: float) -> None:
    assert score(record(*called), type="tool_trajectory", mode="any_order", minimums=minimums).value == value


def test_no_trace_is_not_measured_which_no_calls_are_not() -> None:
    rule = {"type": "tool_trajectory", "mode": "in_order", "expected": calls("A")}
    silent, idle = score(record(traced=False), **rule), score(record(), **rule)
    assert (silent.value, silent.missing, silent.verdict) == (None, "no_trace", "not_measured")
    assert (idle.value, idle.verdict) == (0, "fail")


def test_the_targets_subcommands_are_known_without_the_agents_trace() -> None:
    rule = {"type": "tool_trajectory", "mode": "exact", "expected": [{"tool": "taskmgr:add"}, {"tool": "taskmgr:done"}]}
    assert score(record(traced=False, target="add done"), **rule).value == 1
    assert score(record("bash", "bash", "Read", target="add list"), **rule).value == 0.5


def test_tools_and_subcommands_together_are_in_the_order_of_time() -> None:
    names = ["bash", "taskmgr:add", "Read", "taskmgr:done"]
    rule = {"type": "tool_trajectory", "mode": "exact", "expected": [{"tool": name} for name in names]}
    assert score(record("bash", "Read", target="add done"), **rule).value == 1


def test_forbidden_and_max_calls_hold_in_every_mode() -> None:
    rule = {"type": "tool_trajectory", "mode": "in_order", "expected": calls("A")}
    assert score(record(*"AB"), **rule, forbidden=["B"]).reason == "B was called, which is forbidden"
    assert score(record(*"AAA"), **rule, max_calls={"A": 2}).value == 0
    assert score(record(*"AAC"), **rule, forbidden=["B"], max_calls={"A": 2}).value == 1
    assert score(record("A", target="rm"), **rule, forbidden=["taskmgr:rm"]).value == 0


def test_input_and_output_match_as_a_subset() -> None:
    made = record(("search", {"query": "tides today", "limit": 5}, '{"hits": [1, 2], "more": true}'))
    rule: dict[str, Any] = {"type": "tool_trajectory", "mode": "exact"}

    def value(**expected: Any) -> float | None:
        return score(made, **rule, expected=[{"tool": "search", **expected}]).value

    assert value(input={"limit": 5}) == 1
    assert value(input={"limit": "5"}) == 0
    assert value(input={"query": {"regex": "^tides"}}, output={"hits": [1, {"any": True}]}) == 1
    assert value(input={"query": {"regex": "^ides"}}) == 0
    assert value(input={"page": {"any": True}}) == 0
    assert value(output={"hits": [2]}) == 1
    assert value(output={"hits": [3]}) == 0


@pytest.mark.parametrize(
    "wrong",
    [
        {"mode": "exact", "expected": []},
        {"mode": "any_order", "minimums": {}},
        {"mode": "any_order", "minimums": {"A": 1}, "expected": [{"tool": "A"}]},
        {"mode": "exact", "expected": [{"tool": "A", "input": {"x": {"regex": "("}}}]},
        {"mode": "any_order", "minimums": {"A": -1}},
        {"mode": "sorted", "expected": [{"tool": "A"}]},
    ],
)
def test_a_wrong_expectation_is_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises(ValidationError):
        score(record(), type="tool_trajectory", **wrong)


words = st.text("abc", max_size=7)


@given(words, words)
def test_laws_of_the_longest_common_subsequence(left: str, right: str) -> None:
    same = common_length(left, right, str.__eq__)
    assert same == common_length(right, left, str.__eq__)
    assert common_length(left, left, str.__eq__) == len(left)
    assert same <= sum(matched(left, right, str.__eq__)) <= min(len(left), len(right))


@given(st.recursive(st.none() | st.booleans() | st.integers() | st.text(), st.lists, max_leaves=5))
def test_everything_matches_itself_and_any(value: Any) -> None:
    assert matches(value, value)
    assert matches({"any": True}, value)


def test_each_is_matched_to_its_own() -> None:
    """The greedy choice (the wide pattern takes the only `a`) would match one."""
    assert [*matched(["ab", "a", "b"], "ab", lambda wide, one: one in wide)] == [True, True, False]


def test_no_two_are_compared_twice() -> None:
    is_same = Mock(return_value=True)
    assert not all(matched(range(100), range(99), is_same))
    assert is_same.call_count == len({call.args for call in is_same.call_args_list})


@pytest.mark.parametrize(
    ("expected", "actual", "met"),
    [
        ({"rows": [{"id": 2}]}, {"rows": [{"id": 1}, {"id": 2, "name": "b"}], "more": True}, True),
        ({"rows": [{"id": 2}, {"id": 1}]}, {"rows": [{"id": 1}, {"id": 2}]}, True),
        ({"rows": [{"id": 1}, {"id": 1}]}, {"rows": [{"id": 1}, {"id": 2}]}, False),
        ({"rows": [1, 2]}, {"rows": [1]}, False),
        ([], [1], True),
        ([[1]], [[2], [3, 1]], True),
    ],
)
def test_a_list_in_an_expected_output_is_a_subset(expected: object, actual: object, met: bool) -> None:
    """Every expected item matches a different actual item, in any order."""
    made = record(("A", {}, json.dumps(actual)))
    given = score(made, type="tool_trajectory", mode="in_order", expected=[{"tool": "A", "output": expected}])
    assert given.value == met


def test_a_list_in_an_expected_input_is_the_whole_list() -> None:
    """The order and number of a call's arguments matter."""
    made = record(("A", {"args": ["add", "milk"]}, ""))
    given = score(made, type="tool_trajectory", mode="exact", expected=[{"tool": "A", "input": {"args": ["milk"]}}])
    assert given.value == 0
    assert given.misses == ("A: input.args has 2 items, expected 1",)


LISTED = ComparedCall(tool="list", input={"limit": 2}, answer=[{"id": 2}, {"id": 1}])


@pytest.mark.parametrize(
    ("expected", "call", "why"),
    [
        ({"input": {"limit": 2}, "output": [{"id": 2}, {"id": 1}], "exact": True}, LISTED, None),
        ({"output": [{"id": 1}, {"id": 2}]}, LISTED, None),
        ({"output": [{"id": 1}, {"id": 2}], "exact": True}, LISTED, "output[0].id is 2, expected 1"),
        ({"output": [{"id": 2}], "exact": True}, LISTED, "output has 2 items, expected 1"),
        ({"input": {}}, LISTED, None),
        ({"input": {}, "exact": True}, LISTED, "input has limit in addition"),
        ({"exact": True, "fails": False}, LISTED, None),
        ({"fails": True}, LISTED, 'it did not fail, with [{"id": 2}, {"id": 1}]'),
        ({"fails": False}, ComparedCall(tool="list", answer="no", failed=True), 'it failed, with "no"'),
        ({"fails": False}, ComparedCall(tool="list", failed=None), "it may have failed or not, with null"),
        ({"fails": True}, ComparedCall(tool="list", failed=None), "it may have failed or not, with null"),
    ],
)
def test_an_exact_call_has_no_other_input_and_its_lists_are_in_order_and_one_that_fails_has_to_fail(
    expected: dict[str, Any], call: ComparedCall, why: str | None
) -> None:
    assert ExpectedCall.model_validate({"tool": "list", **expected}).mismatch(call) == why


@pytest.mark.parametrize(
    ("expected", "why"),
    [
        ({"rows": [{"id": 3}]}, 'output.rows has no item that matches {"id": 3}'),
        ({"state": {"open": 2}}, "output.state.open is 1, expected 2"),
        ({"name": "x"}, "output.name is missing"),
        ({"state": []}, "output.state is an object, expected an array"),
        ({"rows": {}}, "output.rows is an array, expected an object"),
        ({"title": {"regex": "^Q"}}, 'output.title is "plan", expected a match of ^Q'),
    ],
)
def test_the_reason_names_the_part_that_differs(expected: object, why: str) -> None:
    made = record(("A", {}, '{"rows": [{"id": 1}], "state": {"open": 1}, "title": "plan"}'), "B")
    given = score(
        made,
        type="tool_trajectory",
        mode="in_order",
        expected=[{"tool": "A", "output": expected}, {"tool": "B"}, {"tool": "C"}],
    )
    assert given.misses == (f"A: {why}", "C was not called")
    assert given.reason == f"called A → B, expected A → B → C; A: {why}; C was not called"


def test_the_pattern_that_no_output_of_a_called_tool_matches_is_kept() -> None:
    expected = [{"tool": tool, "output": {"regex": "^Q"}} for tool in ("A", "B", "C")]
    made = record(("A", {}, "plan"), ("B", {}, "Quay"))
    given = score(made, type="tool_trajectory", mode="superset", expected=expected)
    assert given.unmatched == (("A", "^Q"),)


def test_args_are_agentvs_name_of_the_input() -> None:
    """AgentV 1.6: `args: any` accepts every input."""
    asked = ("search", {"query": "weather Paris"}, "")
    rule = {"type": "tool_trajectory", "mode": "exact"}
    assert score(record(asked), **rule, expected=[{"tool": "search", "args": {"query": "weather Paris"}}]).value == 1
    assert score(record(asked), **rule, expected=[{"tool": "search", "args": {"query": "weather Rome"}}]).value == 0
    assert score(record(asked), **rule, expected=[{"tool": "search", "args": "any"}]).value == 1


def test_expected_calls_in_any_order_are_another_mode() -> None:
    with pytest.raises(ValidationError, match="`expected` calls in any order are the mode `superset`"):
        score(record(), type="tool_trajectory", mode="any_order", expected=calls("A"))


def test_a_call_without_a_result_has_neither_worked_nor_failed() -> None:
    events = (ToolCall(id="8", tool="list"), ToolCall(id="9", tool="list"), ToolResult(id="9", status="unknown"))
    traced = record()
    compared = calls_of(traced.model_copy(update={"events": (*events, *traced.events)}), {"list"})
    assert compared is not None
    assert [call.failed for call in compared] == [None, None]
