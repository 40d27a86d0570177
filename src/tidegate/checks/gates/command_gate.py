"""Gates that run a command: their base class, and `command_succeeds`."""

from __future__ import annotations

from typing import Literal

from tidegate.checks.gates.fields import ShellCommand
from tidegate.model.event import CommandResult
from tidegate.model.gate import Gate, GateDecision, GateInput
from tidegate.model.probe import CommandAnswer, RunCommand
from tidegate.text.shorten import complaint, excerpt

NOT_RUN = GateDecision(passed=False, message="the command was not run")


class CommandGate(Gate):
    """A gate that checks the output of a command, which must exit with status 0."""

    command: ShellCommand

    @property
    def subject(self) -> str:
        """The command."""
        return excerpt(self.command)

    def request(self) -> RunCommand:
        """Run the command."""
        return RunCommand(command=self.command, timeout_secs=self.timeout_secs)

    def decide(self, seen: GateInput) -> GateDecision:
        """Fail if the command did not succeed, else decide on its output."""
        if not isinstance(seen.answer, CommandAnswer):
            return NOT_RUN
        result = seen.answer.result
        return self.decide_output(result) if result.ok else GateDecision(passed=False, message=what_went_wrong(result))

    def decide_output(self, result: CommandResult) -> GateDecision:
        """Decide on the output of a successful command."""
        raise NotImplementedError


class CommandSucceeds(CommandGate):
    """Passes when `command` exits with status 0."""

    quick = True

    type: Literal["command_succeeds"] = "command_succeeds"

    def decide_output(self, result: CommandResult) -> GateDecision:
        """Pass for any output."""
        return GateDecision(passed=True, message=result.how_it_ended())


def what_went_wrong(result: CommandResult) -> str:
    """Return how a failed command ended, with its error message: `exit 2: unknown option --prio`."""
    end = "command not found (exit 127)" if result.exit_code == 127 else result.how_it_ended()
    said = "" if result.end == "not_started" else complaint(result.stderr) or complaint(result.stdout)
    return f"{excerpt(end)}: {said}" if said else excerpt(end)
