"""The gate `command_output_matches`."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from pydantic import ValidationError

from tidegate.checks.gates.text_gates import CommandOutputMatches
from tidegate.model.gate import GateInput


def test_a_cut_output_decides_nothing(sees: Callable[..., GateInput]) -> None:
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
