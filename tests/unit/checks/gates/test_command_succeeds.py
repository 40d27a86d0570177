"""The gate `command_succeeds`, and what all gates with a command have in common."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from pydantic import ValidationError

from tidegate.checks.gates.command_gate import CommandSucceeds
from tidegate.model.event import CommandResult
from tidegate.model.gate import GateDecision, GateInput
from tidegate.model.probe import CommandAnswer, RunCommand

GATE = CommandSucceeds(command="taskmgr doctor", timeout_secs=5)


def test_asks_for_the_command_within_its_own_time() -> None:
    assert GATE.request() == RunCommand(command="taskmgr doctor", timeout_secs=5)


@pytest.mark.parametrize(
    ("result", "message"),
    [
        (CommandResult(command="x", end="timeout", duration_s=5), "timed out after 5 s"),
        (CommandResult(command="x", end="limit", limit="output"), "stopped at the output limit"),
        (CommandResult(command="x", end="not_started", stderr="no folder"), "could not be started (no folder)"),
    ],
)
def test_a_command_that_was_stopped_fails(result: CommandResult, message: str) -> None:
    assert GATE.decide(GateInput(answer=CommandAnswer(result=result))) == GateDecision(passed=False, message=message)


def test_without_an_answer_nothing_passes(file: Callable[..., GateInput]) -> None:
    assert not GATE.decide(GateInput()).passed
    assert not GATE.decide(file(text="exit 0")).passed


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"command": " \n"}, "must not be empty"),
        ({"command": "a\0b"}, "NUL"),
        ({"command": "x", "timeout_secs": 0}, "greater than 0"),
        ({"command": "x", "comand": "y"}, "Extra inputs are not permitted"),
    ],
)
def test_wrong_parameters_are_refused(fields: dict[str, Any], message: str) -> None:
    with pytest.raises(ValidationError, match=message):
        CommandSucceeds.model_validate(fields)


def test_is_named_by_its_command_or_its_description() -> None:
    assert GATE.label == "command_succeeds: taskmgr doctor"
    assert CommandSucceeds(command="x", description="healthy").label == "healthy"
