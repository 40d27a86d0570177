"""The gate `command_succeeds`, and what all gates with a command have in common."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tests.unit.checks.gates.test_command_succeeds import GATE
from tidegate.model.gate import GateDecision, GateInput


def test_passes_on_exit_status_0(shell: Callable[[str], GateInput]) -> None:
    assert GATE.decide(shell("echo fine")) == GateDecision(passed=True, message="exit 0")


@pytest.mark.parametrize(
    ("command", "message"),
    [
        ("exit 3", "exit 3"),
        ("echo 'unknown option --prio' >&2; exit 2", "exit 2: unknown option --prio"),
        ("echo on stdout; exit 1", "exit 1: on stdout"),
        ("kill -9 $$", "killed by signal 9"),
        ("printf '\\033[31merror:\\033[0m\\nbad\\tthing' >&2; exit 1", "exit 1: error: bad thing"),
    ],
)
def test_a_failure_says_what_happened(shell: Callable[[str], GateInput], command: str, message: str) -> None:
    assert GATE.decide(shell(command)) == GateDecision(passed=False, message=message)


def test_a_missing_command_is_named(shell: Callable[[str], GateInput]) -> None:
    decision = GATE.decide(shell("no-such-program-here"))
    assert not decision.passed
    assert decision.message.startswith("command not found (exit 127): ")
    assert "no-such-program-here" in decision.message
