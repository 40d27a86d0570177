"""The gate `command_output_matches`."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from pydantic import ValidationError

from tidegate.checks.gates.text_gates import CommandOutputMatches
from tidegate.model.gate import Decision, Seen

GATE = CommandOutputMatches(command="taskmgr list", pattern=r"#\d+ milk")


def test_passes_when_the_pattern_is_found_anywhere(shell: Callable[[str], Seen]) -> None:
    decision = GATE.decide(shell("echo; echo 'see #12 milk!'"))
    assert decision == Decision(passed=True, message=r"the output matches `#\d+ milk`: `#12 milk`")


def test_a_match_without_text_shows_none(shell: Callable[[str], Seen]) -> None:
    gate = CommandOutputMatches(command="taskmgr --help", pattern="(?s)^(?=.*--all)(?=.*--one)")
    assert gate.decide(shell("echo '--one --all'")).message == "the output matches `(?s)^(?=.*--all)(?=.*--one)`"


def test_fails_with_the_output_when_it_is_not(shell: Callable[[str], Seen]) -> None:
    decision = GATE.decide(shell("echo '#x milk'"))
    assert decision == Decision(passed=False, message=r"the output does not match `#\d+ milk`: `#x milk`")


def test_fails_when_the_command_fails(shell: Callable[[str], Seen]) -> None:
    assert GATE.decide(shell("echo '#1 milk'; exit 4")).message == "exit 4: #1 milk"


def test_a_cut_output_decides_nothing(sees: Callable[..., Seen]) -> None:
    """What was cut off could hold the word that this pattern forbids."""
    gate = CommandOutputMatches(command="x", pattern=r"(?s)\A(?!.*error)")
    assert gate.decide(sees(stdout="all is well")).passed
    decision = gate.decide(sees(stdout="all is well", truncated=True))
    assert not decision.passed
    assert "was cut" in decision.message


@pytest.mark.parametrize(
    ("pattern", "message"),
    [
        ("a[", "is not a regular expression: unterminated character set at position 1"),
        ("x)", "unbalanced parenthesis at position 1"),
        ("a{99999999999999999999}", "too large"),
        ("", "must not be empty"),
    ],
)
def test_a_bad_pattern_is_refused_with_the_place(pattern: str, message: str) -> None:
    with pytest.raises(ValidationError, match=message):
        CommandOutputMatches(command="x", pattern=pattern)
