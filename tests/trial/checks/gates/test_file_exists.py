"""The gate `file_exists`, and what all gates with a file have in common."""

from __future__ import annotations

from collections.abc import Callable

from tests.unit.checks.gates.test_file_exists import GATE
from tidegate.model.gate import GateInput


def test_without_an_answer_nothing_passes(shell: Callable[[str], GateInput]) -> None:
    assert not GATE.decide(GateInput()).passed
    assert not GATE.decide(shell("true")).passed
