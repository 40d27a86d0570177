"""The gate `command_succeeds`."""

from __future__ import annotations

from typing import Literal

from tidegate.checks.gates.command_gate import CommandGate
from tidegate.model.command import CommandResult
from tidegate.model.gate import Decision


class CommandSucceeds(CommandGate):
    """Passes when `command` exits with status 0."""

    quick = True

    type: Literal["command_succeeds"] = "command_succeeds"

    def decide_output(self, result: CommandResult) -> Decision:
        """Pass for any output."""
        return Decision(passed=True, message=result.how_it_ended())
