"""The gate `command_output_words`."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from pydantic import ValidationError

from tidegate.checks.gates.text_gates import CommandOutputWords
from tidegate.model.gate import GateInput

GATE = CommandOutputWords(command="taskmgr --help", words=("--prio", "add"))


def test_a_cut_output_shows_what_is_there_but_never_what_is_not(sees: Callable[..., GateInput]) -> None:
    assert GATE.decide(sees(stdout="add --prio …", truncated=True)).passed
    assert "the output was cut" in GATE.decide(sees(stdout="add …", truncated=True)).message


def test_no_words_are_refused_since_the_gate_could_not_fail() -> None:
    with pytest.raises(ValidationError, match="at least 1 item"):
        CommandOutputWords(command="x", words=())
