"""Rows fixed since the last comment, and rows whose state is unknown."""

from __future__ import annotations

import pytest

from tests.gh.fixtures import make_result
from tidegate.github.comment import WorkflowRun, fixed_since, next_marker
from tidegate.model.marker import Marker, short
from tidegate.model.plan import RowKey
from tidegate.model.suite import RowState


def key(scenario: str) -> RowKey:
    return RowKey(scenario=scenario, agent="docs")


BEFORE = Marker(instance="default", head="1" * 40, run=1, attempt=1, verdict="failed", regressed=(key("add"),))
RUN = WorkflowRun(id=2, attempt=1, head="d" * 40)


@pytest.mark.parametrize("state", ["ok", "improved"])
def test_what_works_again_is_fixed_and_forgotten(state: RowState) -> None:
    result = make_result(add=state)
    fixed = fixed_since(BEFORE, result)

    assert fixed is not None
    assert (fixed.since, fixed.rows) == ("1" * 40, (key("add"),))
    assert next_marker(BEFORE, result, RUN).regressed == ()


@pytest.mark.parametrize(
    "state", ["not_measured", "unconfirmed", "flaky", "baseline_changed", "not_comparable", "added"]
)
def test_what_nobody_has_seen_working_stays_in_memory(state: RowState) -> None:
    result = make_result(add=state)

    assert fixed_since(BEFORE, result) is None
    assert next_marker(BEFORE, result, RUN).regressed == (key("add"),)


def test_a_row_that_was_not_run_stays_in_memory() -> None:
    assert next_marker(BEFORE, make_result(other="ok"), RUN).regressed == (key("add"),)


def test_a_removed_scenario_is_neither_fixed_nor_remembered() -> None:
    result = make_result(add="removed")

    assert fixed_since(BEFORE, result) is None
    assert next_marker(BEFORE, result, RUN).regressed == ()


def test_taking_the_change_back_fixes_everything() -> None:
    result = make_result()
    result = result.model_copy(update={"verdict": result.verdict.model_copy(update={"reason": "nothing_to_do"})})
    fixed = fixed_since(BEFORE, result)

    assert fixed is not None
    assert fixed.rows == (key("add"),)
    assert next_marker(BEFORE, result, RUN).regressed == ()


def test_what_is_red_now_comes_first_and_once() -> None:
    result = make_result(add="regressed", sync="regressed")

    assert next_marker(BEFORE, result, RUN).regressed == (key("add"), key("sync"))
    assert fixed_since(BEFORE, result) is None


def test_without_a_comment_before_there_is_nothing_to_say() -> None:
    assert fixed_since(None, make_result(add="ok")) is None
    assert next_marker(
        None, make_result(add="regressed"), WorkflowRun(id=7, attempt=2, head="d" * 40)
    ) == BEFORE.model_copy(
        update={
            "head": "d" * 40,
            "run": 7,
            "attempt": 2,
            "exit_code": 1,
            "base": "main",
            "reason": "regression",
            "red": (short("add × docs regressed"),),
        }
    )
