"""The gates `command_succeeds` and `command_exits`, and what all gates with a command have in common."""

from __future__ import annotations

from typing import Any

import pytest
from pydantic import ValidationError

from tests.unit.checks.gates.seen import file, sees
from tidegate.checks.gates.command_gate import CommandExits, CommandGate, CommandSucceeds
from tidegate.checks.gates.json_path import CommandJsonPath
from tidegate.checks.gates.text_gates import CommandOutputContains, CommandOutputMatches, CommandOutputWords
from tidegate.model.event import CommandResult
from tidegate.model.gate import GateDecision, GateInput
from tidegate.model.probe import CommandAnswer, RunCommand

GATE = CommandSucceeds(command="taskmgr doctor", timeout_secs=5)


def test_asks_for_the_command_within_its_own_time() -> None:
    assert GATE.request() == RunCommand(command="taskmgr doctor", timeout_secs=5)


@pytest.mark.parametrize(
    ("result", "message"),
    [
        (CommandResult(command="x", end="exited", exit_code=3), "exit 3"),
        (CommandResult(command="x", end="exited", exit_code=2, stderr="unknown option"), "exit 2: unknown option"),
        (CommandResult(command="x", end="exited", exit_code=1, stdout="on stdout"), "exit 1: on stdout"),
        (CommandResult(command="x", end="exited", exit_code=1, stderr="\x1b[31mbad\x1b[0m\tx"), "exit 1: bad x"),
        (CommandResult(command="x", end="exited", exit_code=127, stderr="?"), "command not found (exit 127): ?"),
        (CommandResult(command="x", end="signal", signal=9), "killed by signal 9"),
        (CommandResult(command="x", end="timeout", duration_s=5), "timed out after 5 s"),
        (CommandResult(command="x", end="limit", limit="output"), "stopped at the output limit"),
        (CommandResult(command="x", end="not_started", stderr="no folder"), "could not be started (no folder)"),
    ],
)
def test_a_failure_says_what_happened(result: CommandResult, message: str) -> None:
    assert GATE.decide(GateInput(answer=CommandAnswer(result=result))) == GateDecision(passed=False, message=message)


@pytest.mark.parametrize(
    "gate",
    [
        CommandExits(command="lint", status=(1, 2)),
        CommandSucceeds(command="lint", status=(1, 2)),
        CommandOutputContains(command="lint", status=(1, 2), substring="[]"),
        CommandOutputMatches(command="lint", status=(1, 2), pattern="^.]"),
        CommandOutputWords(command="lint", status=(1, 2), words=("[]",)),
        CommandJsonPath(command="lint", status=(1, 2), path="$", assertion="len == 0"),
    ],
)
def test_a_command_has_to_exit_with_one_of_the_statuses_named(gate: CommandGate) -> None:
    ends = {code: gate.decide(sees(exit_code=code, stdout="[]")) for code in (0, 1, 2, 127)}
    assert {code: end.passed for code, end in ends.items()} == {0: False, 1: True, 2: True, 127: False}
    assert ends[0].message == "exit 0, expected exit 1 or 2: []"
    assert not gate.decide(sees(end="signal", signal=1, stdout="[]")).passed


def test_exit_status_0_passes() -> None:
    assert GATE.decide(sees(stdout="fine")) == GateDecision(passed=True, message="exit 0")


def test_without_an_answer_nothing_passes() -> None:
    assert not GATE.decide(GateInput()).passed
    assert not GATE.decide(file(text="exit 0")).passed


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"command": " \n"}, "must not be empty"),
        ({"command": "a\0b"}, "NUL"),
        ({"command": "x", "timeout_secs": 0}, "greater than 0"),
        ({"command": "x", "status": -1}, "greater than or equal to 0"),
        ({"command": "x", "status": []}, "at least 1 item"),
        ({"command": "x", "comand": "y"}, "Extra inputs are not permitted"),
    ],
)
def test_wrong_parameters_are_refused(fields: dict[str, Any], message: str) -> None:
    with pytest.raises(ValidationError, match=message):
        CommandSucceeds.model_validate(fields)


def test_is_named_by_its_command_or_its_description() -> None:
    assert GATE.label == "command_succeeds: taskmgr doctor"
    assert CommandSucceeds(command="x", description="healthy").label == "healthy"
