"""The gate `script`."""

from __future__ import annotations

from collections.abc import Callable

from tests.unit.checks.gates.test_script import GATE
from tidegate.model.gate import GateDecision, GateInput


def test_what_it_prints_can_fail_it_and_explains_a_pass(shell: Callable[[str], GateInput]) -> None:
    said = """echo '{"passed": true, "message": "3 tasks", "detail": {"tasks": [1, 2]}}'"""
    assert GATE.decide(shell(said)) == GateDecision(passed=True, message="3 tasks", detail={"tasks": [1, 2]})
    said = """echo '{"passed": false}'"""
    assert GATE.decide(shell(said)) == GateDecision(passed=False, message="the script says that it failed")


def test_it_cannot_pass_by_what_it_prints_alone(shell: Callable[[str], GateInput]) -> None:
    """The tool under test may have printed it."""
    decision = GATE.decide(shell("""echo '{"passed": true, "message": "fine"}'; exit 1"""))
    assert not decision.passed
    assert decision.message.startswith("the script printed that it passed, but did not exit with status 0: exit 1")


def test_a_failure_by_exit_status_says_what_it_printed(shell: Callable[[str], GateInput]) -> None:
    assert GATE.decide(shell("echo no tasks; exit 3")).message == "exit 3: no tasks"
    assert GATE.decide(shell("./no-such-script")).message.startswith("command not found (exit 127)")
