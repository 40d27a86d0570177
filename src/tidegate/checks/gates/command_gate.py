"""Gates that run a command: their base class, `command_succeeds` and `command_exits`."""

from __future__ import annotations

from typing import Literal

from tidegate.checks.gates.fields import ShellCommand
from tidegate.model.event import CommandResult
from tidegate.model.field_types import ExitStatus, ExitStatuses
from tidegate.model.gate import Gate, GateDecision, GateInput
from tidegate.model.probe import CommandAnswer, RunCommand
from tidegate.text.shorten import complaint, excerpt

NOT_RUN = GateDecision(passed=False, message="the command was not run")


class CommandGate(Gate):
    """A gate that checks the output of a command, which must exit with `status`, or with one of them."""

    command: ShellCommand
    status: ExitStatus | ExitStatuses = 0

    @property
    def subject(self) -> str:
        """The command."""
        return excerpt(self.command)

    def request(self) -> RunCommand:
        """Run the command."""
        return RunCommand(command=self.command, timeout_secs=self.timeout_secs)

    def decide(self, seen: GateInput) -> GateDecision:
        """Fail if the command ended in another way, else decide on its output."""
        if not isinstance(seen.answer, CommandAnswer):
            return NOT_RUN
        result = seen.answer.result
        expected = (self.status,) if isinstance(self.status, int) else self.status
        if result.end == "exited" and result.exit_code in expected:
            return self.decide_output(result)
        named = "" if expected == (0,) else f", expected exit {' or '.join(map(str, expected))}"
        return GateDecision(passed=False, message=what_went_wrong(result, named))

    def decide_output(self, result: CommandResult) -> GateDecision:
        """Decide on the output of a command that ended as expected."""
        raise NotImplementedError


class _AnyOutput(CommandGate):
    quick = True

    def decide_output(self, result: CommandResult) -> GateDecision:
        """Pass for any output."""
        return GateDecision(passed=True, message=result.how_it_ended())


class CommandSucceeds(_AnyOutput):
    """Passes when `command` exits with `status`."""

    type: Literal["command_succeeds"] = "command_succeeds"


class CommandExits(_AnyOutput):
    """Passes when `command` exits with `status`, which is often not 0: a linter that finds problems, a refused input.

    A crash may have the same status, so check what the command prints, too: all `command_…` gates accept `status`.
    """

    type: Literal["command_exits"] = "command_exits"
    status: ExitStatus | ExitStatuses


def what_went_wrong(result: CommandResult, expected: str = "") -> str:
    """Return how a command ended, what was `expected`, and its error message: `exit 2: unknown option --prio`."""
    end = "command not found (exit 127)" if result.exit_code == 127 else result.how_it_ended()
    said = "" if result.end == "not_started" else complaint(result.stderr) or complaint(result.stdout)
    return f"{excerpt(end)}{expected}: {said}" if said else f"{excerpt(end)}{expected}"
