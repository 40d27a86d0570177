"""The gate `command_json_path`."""

from __future__ import annotations

from collections.abc import Callable

from tests.unit.checks.gates.test_command_json_path import gate
from tidegate.model.gate import GateInput


def test_a_failed_command_fails(shell: Callable[[str], GateInput]) -> None:
    assert gate("$", "exists").decide(shell("echo '{}'; exit 5")).message == "exit 5: {}"
