"""The gate `command_output_matches`."""

from __future__ import annotations

from typing import Literal

from tidegate.gates.command_gate import CommandGate
from tidegate.gates.excerpt import excerpt
from tidegate.gates.fields import Regex
from tidegate.gates.text_checks import matches
from tidegate.model.command import CommandResult
from tidegate.model.gate import Decision


class CommandOutputMatches(CommandGate):
    """Passes when `command` ends with exit status 0 and the regular expression `pattern` is found in its output.

    The syntax is that of Python's `re`; the pattern may be found anywhere (`re.search`).
    """

    type: Literal["command_output_matches"] = "command_output_matches"
    pattern: Regex

    @property
    def subject(self) -> str:
        """The command and the pattern."""
        return excerpt(f"{self.command} → {self.pattern}")

    def decide_output(self, result: CommandResult) -> Decision:
        """Search the whole output; a cut one decides nothing, since a pattern may speak of what is not there."""
        if result.truncated:
            return Decision(passed=False, message="the output was cut, so no pattern can be decided: print less")
        return matches("the output", result.stdout, self.pattern)
