"""The gate `command_output_words`."""

from __future__ import annotations

import pytest
from pydantic import ValidationError

from tidegate.checks.gates.text_gates import CommandOutputWords

GATE = CommandOutputWords(command="taskmgr --help", words=("--prio", "add"))


def test_no_words_are_refused_since_the_gate_could_not_fail() -> None:
    with pytest.raises(ValidationError, match="at least 1 item"):
        CommandOutputWords(command="x", words=())
