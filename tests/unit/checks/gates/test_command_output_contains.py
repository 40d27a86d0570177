"""The gate `command_output_contains`."""

from __future__ import annotations

import pytest
from pydantic import ValidationError

from tidegate.checks.gates.text_gates import CommandOutputContains

GATE = CommandOutputContains(command="taskmgr list", substring="milk")


def test_an_empty_substring_is_refused_since_it_could_not_fail() -> None:
    with pytest.raises(ValidationError, match="must not be empty"):
        CommandOutputContains(command="x", substring="")
    assert CommandOutputContains(command="x", substring="\n\n").substring == "\n\n"


def test_two_gates_on_one_command_have_two_names() -> None:
    assert GATE.label == 'command_output_contains: taskmgr list must print "milk"'
