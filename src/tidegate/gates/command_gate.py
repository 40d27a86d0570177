"""What all gates that run a command have in common."""

from __future__ import annotations

from tidegate.gates.excerpt import complaint, excerpt
from tidegate.gates.fields import ShellCommand
from tidegate.model.command import CommandResult
from tidegate.model.gate import Decision, Gate, Seen
from tidegate.model.probe import CommandAnswer, RunCommand

NOT_RUN = Decision(passed=False, message="the command was not run")


class CommandGate(Gate):
    """A gate that looks at the output of a command which has to end with exit status 0."""

    command: ShellCommand

    @property
    def subject(self) -> str:
        """The command."""
        return excerpt(self.command)

    def request(self) -> RunCommand:
        """Run the command."""
        return RunCommand(command=self.command, timeout_secs=self.timeout_secs)

    def decide(self, seen: Seen) -> Decision:
        """Fail if the command did not succeed, else decide on its output."""
        if not isinstance(seen.answer, CommandAnswer):
            return NOT_RUN
        result = seen.answer.result
        return self.decide_output(result) if result.ok else Decision(passed=False, message=what_went_wrong(result))

    def decide_output(self, result: CommandResult) -> Decision:
        """Decide on what a successful command printed."""
        raise NotImplementedError


def what_went_wrong(result: CommandResult) -> str:
    """How a command ended that should have succeeded, with its own words: `exit 2: unknown option --prio`."""
    end = "command not found (exit 127)" if result.exit_code == 127 else result.how_it_ended()
    said = "" if result.end == "not_started" else complaint(result.stderr) or complaint(result.stdout)
    return f"{excerpt(end)}: {said}" if said else excerpt(end)
