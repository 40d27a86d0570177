"""The gate `command_json_path`."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from tests.unit.checks.gates.seen import sees
from tidegate.checks.gates.json_path import CommandJsonPath
from tidegate.model.gate import GateDecision

TASKS = {
    "tasks": [{"id": 1, "title": "buy milk", "done": True}, {"id": 2, "title": "call", "tag": None}],
    "next": 3,
    "none": [],
}


def gate(path: str, assertion: str) -> CommandJsonPath:
    return CommandJsonPath(command="taskmgr list --json", path=path, assertion=assertion)


@pytest.mark.parametrize(
    ("path", "assertion"),
    [
        ("$", "exists"),
        ("$.tasks", "len >= 2"),
        ("$.tasks[0].title", "contains milk"),
        ("$.tasks[-1].id", "equals 2"),
        ("$.tasks[*].title", "contains call"),
        ("$.tasks[?(@.done == true)].id", "equals [1]"),
        ("$.tasks[?(@.id > 9)]", "len == 0"),
        ("$..id", "equals [1, 2]"),
        ("$.none[*].id", "len == 0"),
        ("$..gone", "len == 0"),
        ("$.tasks[0:1]", "len == 1"),
        ("$.tasks[0,1].id", "equals [1, 2]"),
        ("$.tasks.`len`", ">= 2"),
        ("$.next", "< 3.5"),
        ("$.next + $.next", "== 6"),
        ("next", "equals 3.0"),
    ],
)
def test_passes_when_the_assertion_holds(path: str, assertion: str) -> None:
    decision = gate(path, assertion).decide(sees(stdout=json.dumps(TASKS)))
    assert decision.passed, decision.message


@pytest.mark.parametrize(
    ("path", "assertion", "message"),
    [
        ("$.count", "equals 3", "`$.count` is missing in the output"),
        ("$.count", "!= 3", "`$.count` is missing in the output"),
        ("$.tasks[9].id", "> 0", "`$.tasks[9].id` is missing in the output"),
        ("$.tasks[1].tag", "exists", "`$.tasks[1].tag` is missing or null in the output"),
        ("$.tasks[?(@.id > 9)]", "exists", "`$.tasks[?(@.id > 9)]` is missing or null in the output"),
        ("$.items[*]", "len == 0", "`$.items` is not a list or an object in the output"),
        ("$.next[?(@.id > 9)].id", "len == 0", "`$.next` is not a list or an object in the output"),
        ("$..tag", "exists", "`$..tag` is missing or null in the output"),
        ("$.next + $.tasks[0].done", "== 4", "`$.next + $.tasks[0].done` is missing in the output"),
        ("$.tasks", "len > 2", "`$.tasks` has len 2, expected > 2"),
        ("$.next", "equals 4", "`$.next` is 3, expected 4"),
        ("$.next", 'equals "3"', '`$.next` is 3, expected "3" (a number, not a string)'),
        ("$.tasks[0].id", "len == 1", "`$.tasks[0].id` is a number, `len` needs an array, an object or a string"),
        ("$.tasks[*].id", "> 0", "`$.tasks[*].id` is an array ([1, 2]), `>` needs a number"),
    ],
)
def test_fails_with_what_was_found(path: str, assertion: str, message: str) -> None:
    decision = gate(path, assertion).decide(sees(stdout=json.dumps(TASKS)))
    missing = {"$.count": ("count",), "$.items[*]": ("items",)}.get(path, ())
    assert decision == GateDecision(passed=False, message=message, missing=missing)


@pytest.mark.parametrize(
    ("stdout", "message"),
    [
        ("Usage: taskmgr", "the output is not JSON (expected value at line 1 column 1): `Usage: taskmgr`"),
        ("", "the output is not JSON (EOF while parsing a value at line 1 column 0): it is empty"),
    ],
)
def test_output_that_is_not_json_fails_with_its_beginning(stdout: str, message: str) -> None:
    decision = gate("$", "exists").decide(sees(stdout=stdout))
    assert not decision.passed
    assert message in decision.message


def test_no_key_may_be_there_twice() -> None:
    decision = gate("$.a", "equals 2").decide(sees(stdout='{"a": 1, "a": 2}'))
    assert not decision.passed
    assert "`a` is there twice" in decision.message


def test_a_cut_output_is_not_read() -> None:
    decision = gate("$", "exists").decide(sees(stdout="{}", truncated=True))
    assert not decision.passed
    assert "was cut" in decision.message


def test_a_path_that_cannot_be_applied_fails_and_says_so() -> None:
    decision = gate("$.`parent`", "exists").decide(sees(stdout="{}"))
    assert decision.message.startswith("`$.`parent`` cannot be applied")


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"path": "$.["}, "is not a JSONPath: Parse error"),
        ({"path": ""}, "must not be empty"),
        ({"path": "$.`sub(/[/, z)`"}, "is not a JSONPath"),
        ({"assertion": "count > 5"}, "'count > 5' is not an assertion: write one of exists, equals <JSON or text>"),
        ({"assertion": "equals"}, "is not an assertion"),
        ({"assertion": "len > 1.5"}, "len needs a whole number"),
    ],
)
def test_wrong_parameters_are_refused(fields: dict[str, Any], message: str) -> None:
    with pytest.raises(ValidationError) as error:
        CommandJsonPath.model_validate({"command": "x", "path": "$", "assertion": "exists", **fields})
    assert message in str(error.value)


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.sampled_from(["a", "b", "a-b"]), inner),
    max_leaves=12,
)
paths = st.sampled_from(
    [
        *("$", "$.a", "$..a", "$[0]", "$.*", "$[?(@.a>1)]", "$[?(@.a=~'x')]", "$..[0]", "$[/a]", "$.a+1", "$.a*$.b"),
        *("$[::2]", "$.`keys`", "$.`sorted`", "$.`len`", "$.`path`", "$.a.`split(-,0,1)`", "$.`parent`"),
    ]
)
assertions = st.sampled_from(["exists", "equals 1", "contains a", "contains 1", "len == 1", "> 0", "!= 2", "equals {}"])


@given(json_values, paths, assertions)
def test_deciding_never_raises(document: Any, path: str, assertion: str) -> None:
    decision = gate(path, assertion).decide(sees(stdout=json.dumps(document)))
    assert decision.message
    assert GateDecision.model_validate_json(decision.model_dump_json()) == decision
