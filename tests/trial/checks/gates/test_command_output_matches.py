"""The gate `command_output_matches`."""

from __future__ import annotations

from collections.abc import Callable

from tidegate.checks.gates.text_gates import CommandOutputMatches
from tidegate.model.gate import GateDecision, GateInput

GATE = CommandOutputMatches(command="taskmgr list", pattern=r"#\d+ milk")


def test_passes_when_the_pattern_is_found_anywhere(shell: Callable[[str], GateInput]) -> None:
    decision = GATE.decide(shell("echo; echo 'see #12 milk!'"))
    assert decision == GateDecision(passed=True, message=r"the output matches `#\d+ milk`: `#12 milk`")


def test_a_match_without_text_shows_none(shell: Callable[[str], GateInput]) -> None:
    gate = CommandOutputMatches(command="taskmgr --help", pattern="(?s)^(?=.*--all)(?=.*--one)")
    assert gate.decide(shell("echo '--one --all'")).message == "the output matches `(?s)^(?=.*--all)(?=.*--one)`"


def test_fails_with_the_output_when_it_is_not(shell: Callable[[str], GateInput]) -> None:
    decision = GATE.decide(shell("echo '#x milk'"))
    assert decision == GateDecision(passed=False, message=r"the output does not match `#\d+ milk`: `#x milk`")


def test_fails_when_the_command_fails(shell: Callable[[str], GateInput]) -> None:
    assert GATE.decide(shell("echo '#1 milk'; exit 4")).message == "exit 4: #1 milk"
