"""The gate `command_output_contains`."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from pydantic import ValidationError

from tidegate.checks.gates.text_gates import CommandOutputContains
from tidegate.model.gate import GateInput

GATE = CommandOutputContains(command="taskmgr list", substring="milk")


def test_a_cut_output_shows_what_is_there_but_never_what_is_not(sees: Callable[..., GateInput]) -> None:
    assert GATE.decide(sees(stdout="milk and …", truncated=True)).passed
    decision = GATE.decide(sees(stdout="bread and …", truncated=True))
    assert not decision.passed
    assert "the output was cut" in decision.message


def test_an_empty_substring_is_refused_since_it_could_not_fail() -> None:
    with pytest.raises(ValidationError, match="must not be empty"):
        CommandOutputContains(command="x", substring="")
    assert CommandOutputContains(command="x", substring="\n\n").substring == "\n\n"


def test_two_gates_on_one_command_have_two_names() -> None:
    assert GATE.label == 'command_output_contains: taskmgr list must print "milk"'
