"""The gate `command_output_matches`."""

from __future__ import annotations

from typing import Literal

from tidegate.checks.gates.command_gate import CommandGate
from tidegate.checks.gates.fields import Regex
from tidegate.checks.gates.text_checks import matches
from tidegate.model.command import CommandResult
from tidegate.model.gate import Decision
from tidegate.text.shorten import excerpt


class CommandOutputMatches(CommandGate):
    """Passes when `command` exits with status 0 and its standard output matches the regular expression `pattern`.

    The syntax is that of Python's `re`. The pattern may match anywhere in the output, as in `re.search`.
    """

    type: Literal["command_output_matches"] = "command_output_matches"
    pattern: Regex

    @property
    def subject(self) -> str:
        """The command and the pattern."""
        return excerpt(f"{self.command} must print a match of {self.pattern}")

    def decide_output(self, result: CommandResult) -> Decision:
        """Search the whole output. Cut output fails, since a pattern may depend on the part that is missing."""
        if result.truncated:
            return Decision(passed=False, message="the output was cut, so no pattern can be decided: print less")
        return matches("the output", result.stdout, self.pattern)
