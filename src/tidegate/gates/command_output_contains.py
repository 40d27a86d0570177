"""The gate `command_output_contains`."""

from __future__ import annotations

from typing import Literal

from tidegate.gates.command_gate import CommandGate
from tidegate.gates.excerpt import excerpt
from tidegate.gates.fields import NonEmpty
from tidegate.gates.text_checks import contains
from tidegate.model.command import CommandResult
from tidegate.model.gate import Decision


class CommandOutputContains(CommandGate):
    """Passes when `command` ends with exit status 0 and its standard output contains `substring`."""

    type: Literal["command_output_contains"] = "command_output_contains"
    substring: NonEmpty

    @property
    def subject(self) -> str:
        """The command and the substring."""
        return excerpt(f"{self.command} → {self.substring}")

    def decide_output(self, result: CommandResult) -> Decision:
        """Look for the substring; a cut output can show that it is there, never that it is not."""
        decision = contains("the output", result.stdout, self.substring)
        if result.truncated and not decision.passed:
            return decision.model_copy(update={"message": f"{decision.message} (the output was cut: print less)"})
        return decision
