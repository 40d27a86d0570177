"""The gate `command_output_contains`."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from pydantic import ValidationError

from tidegate.checks.gates.text_gates import CommandOutputContains
from tidegate.model.gate import Decision, Seen

GATE = CommandOutputContains(command="taskmgr list", substring="milk")


def test_passes_when_the_output_contains_it(shell: Callable[[str], Seen]) -> None:
    assert GATE.decide(shell("echo buy milk")) == Decision(passed=True, message="the output contains `milk`")


def test_fails_with_the_output_when_it_does_not(shell: Callable[[str], Seen]) -> None:
    decision = GATE.decide(shell("echo buy bread"))
    assert decision == Decision(passed=False, message="the output does not contain `milk`: `buy bread`")
    assert GATE.decide(shell("true")).message == "the output does not contain `milk`: it is empty"


@pytest.mark.parametrize("command", ["echo milk; exit 1", "echo milk >&2"])
def test_fails_when_the_command_fails_or_says_it_elsewhere(shell: Callable[[str], Seen], command: str) -> None:
    assert not GATE.decide(shell(command)).passed


def test_a_cut_output_shows_what_is_there_but_never_what_is_not(sees: Callable[..., Seen]) -> None:
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
