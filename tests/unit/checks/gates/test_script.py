"""The gate `script`."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.unit.checks.gates.seen import sees
from tidegate.checks.gates.command_gate import MAX_DETAIL, Script
from tidegate.model.gate import GateDecision, GateInput
from tidegate.model.probe import RunScript

GATE = Script(command="./check.sh", timeout_secs=7)


def test_asks_for_a_script_within_its_own_time() -> None:
    assert GATE.request() == RunScript(command="./check.sh", timeout_secs=7)
    assert GATE.label == "script: ./check.sh"


@pytest.mark.parametrize(
    "stdout", ["", "fine", "[true]", '{"passed": 1}', '{"passed": "true"}', '{"ok": true}', '{"passed": true} x']
)
def test_without_a_word_the_exit_status_decides(stdout: str) -> None:
    assert GATE.decide(sees(stdout=stdout)).passed
    assert not GATE.decide(sees(stdout=stdout, exit_code=1)).passed


@pytest.mark.parametrize(
    ("end", "message"),
    [
        ({"end": "timeout", "duration_s": 7}, "timed out after 7 s"),
        ({"end": "signal", "signal": 11}, "killed by signal 11"),
        ({"end": "limit", "limit": "memory"}, "stopped at the memory limit"),
    ],
)
def test_a_script_that_was_stopped_fails_whatever_it_printed(end: dict[str, Any], message: str) -> None:
    decision = GATE.decide(sees(stdout='{"passed": true}', **end))
    assert not decision.passed
    assert decision.message.startswith(message)


def test_a_cut_output_decides_nothing() -> None:
    decision = GATE.decide(sees(stdout='{"passed": true}', truncated=True))
    assert (decision.passed, "was cut" in decision.message) == (False, True)


def test_what_it_prints_can_fail_it_and_explains_a_pass() -> None:
    said = sees(stdout='{"passed": true, "message": "3 tasks", "detail": {"tasks": [1, 2]}}')
    assert GATE.decide(said) == GateDecision(passed=True, message="3 tasks", detail={"tasks": [1, 2]})
    said = sees(stdout='{"passed": false}')
    assert GATE.decide(said) == GateDecision(passed=False, message="the script says that it failed")


def test_it_cannot_pass_by_what_it_prints_alone() -> None:
    """The tool under test may have printed it."""
    decision = GATE.decide(sees(stdout='{"passed": true, "message": "fine"}', exit_code=1))
    assert not decision.passed
    assert decision.message.startswith("the script printed that it passed, but did not exit with status 0: exit 1")


def test_a_message_is_one_clean_line() -> None:
    said = json.dumps({"passed": False, "message": "\x1b[31mbad\x1b[0m\nthing\x07"})
    assert GATE.decide(sees(stdout=said)).message == "bad thing"


def test_a_long_detail_is_cut() -> None:
    detail = GATE.decide(sees(stdout=json.dumps({"passed": True, "detail": ["x" * MAX_DETAIL]}))).detail
    assert detail.startswith('["xxx')
    assert len(detail) == MAX_DETAIL + 1


def test_without_an_answer_nothing_passes() -> None:
    assert not GATE.decide(GateInput()).passed


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text() | st.just("\ud800"),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3) | st.just("\udfff"), inner),
    max_leaves=10,
)


@given(st.fixed_dictionaries({}, optional={"passed": json_values, "message": json_values, "detail": json_values}))
def test_every_decision_can_be_stored(said: dict[str, Any]) -> None:
    decision = GATE.decide(sees(stdout=json.dumps(said)))
    assert GateDecision.model_validate_json(decision.model_dump_json()) == decision
