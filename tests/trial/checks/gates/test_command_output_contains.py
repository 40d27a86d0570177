"""The gate `command_output_contains`."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tests.unit.checks.gates.test_command_output_contains import GATE
from tidegate.model.gate import GateDecision, GateInput


def test_passes_when_the_output_contains_it(shell: Callable[[str], GateInput]) -> None:
    assert GATE.decide(shell("echo buy milk")) == GateDecision(passed=True, message="the output contains `milk`")


def test_fails_with_the_output_when_it_does_not(shell: Callable[[str], GateInput]) -> None:
    decision = GATE.decide(shell("echo buy bread"))
    assert decision == GateDecision(passed=False, message="the output does not contain `milk`: `buy bread`")
    assert GATE.decide(shell("true")).message == "the output does not contain `milk`: it is empty"


@pytest.mark.parametrize("command", ["echo milk; exit 1", "echo milk >&2"])
def test_fails_when_the_command_fails_or_says_it_elsewhere(shell: Callable[[str], GateInput], command: str) -> None:
    assert not GATE.decide(shell(command)).passed
