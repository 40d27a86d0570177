"""The gate `command_output_contains`."""

from __future__ import annotations

from typing import Literal

from tidegate.checks.gates.command_gate import CommandGate
from tidegate.checks.gates.fields import NonEmpty
from tidegate.checks.gates.text_checks import contains
from tidegate.model.command import CommandResult
from tidegate.model.gate import Decision
from tidegate.text.shorten import excerpt


class CommandOutputContains(CommandGate):
    """Passes when `command` exits with status 0 and its standard output contains `substring`."""

    quick = True

    type: Literal["command_output_contains"] = "command_output_contains"
    substring: NonEmpty

    @property
    def subject(self) -> str:
        """The command and the substring."""
        return excerpt(f'{self.command} must print "{self.substring}"')

    def decide_output(self, result: CommandResult) -> Decision:
        """Search for the substring. Cut output can prove that it is there, but not that it is missing."""
        decision = contains("the output", result.stdout, self.substring)
        if result.truncated and not decision.passed:
            return decision.model_copy(update={"message": f"{decision.message} (the output was cut: print less)"})
        return decision
