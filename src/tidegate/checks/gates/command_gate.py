"""Gates that run a command: their base class, `command_succeeds`, `command_exits` and `script`."""

from __future__ import annotations

import json
import re
from typing import Any, ClassVar, Literal

from tidegate.checks.gates.assertion import parse_json
from tidegate.checks.gates.fields import ShellCommand
from tidegate.model.event import CommandResult
from tidegate.model.field_types import ExitStatus, ExitStatuses
from tidegate.model.gate import Gate, GateDecision, GateInput
from tidegate.model.probe import CommandAnswer, RunCommand, RunScript
from tidegate.text.shorten import complaint, excerpt

NOT_RUN = GateDecision(passed=False, message="the command was not run")
CUT = GateDecision(passed=False, message="the output was cut, so the result is unknown: print less")


class CommandGate(Gate):
    """A gate that checks the output of a command, which must exit with `status`, or with one of them."""

    says = "{command}"
    reads_output: ClassVar[bool] = True  # which it cannot, if the output was cut

    command: ShellCommand
    status: ExitStatus | ExitStatuses = 0

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
            return CUT if result.truncated and self.reads_output else self.decide_output(result)
        named = "" if expected == (0,) else f", expected exit {' or '.join(map(str, expected))}"
        return GateDecision(passed=False, message=what_went_wrong(result, named))

    def decide_output(self, result: CommandResult) -> GateDecision:
        """Decide on the output of a command that ended as expected."""
        return self.decide_text(result.stdout, "the output")

    def decide_text(self, text: str, what: str) -> GateDecision:
        """Decide on a text; messages call it `what`."""
        raise NotImplementedError


class _AnyOutput(CommandGate):
    reads_output = False

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


MAX_DETAIL = 20_000
"""Maximum length of a script's stored `detail`, in characters of JSON."""
_CLAIM = "the script printed that it passed, but did not exit with status 0"


class Script(Gate):
    """Passes if the script exits with status 0, and does not print a JSON object with `"passed": false`.

    The object's `message` is shown and its `detail` is stored. The environment has the script variables (`TIDEGATE_…`,
    `LLM_TOOL_TEST_…`). `"passed": true` alone is not enough, because the script may pass on what the tool prints
    (llm-tool-test ignores the exit status then). A script that is stopped or killed fails, regardless of its output.
    """

    says = "{command}"
    type: Literal["script"] = "script"
    command: ShellCommand

    def request(self) -> RunScript:
        """Run the command with the script variables."""
        return RunScript(command=self.command, timeout_secs=self.timeout_secs)

    def decide(self, seen: GateInput) -> GateDecision:
        """Fail unless the exit status is 0 and the script did not report a failure."""
        if not isinstance(seen.answer, CommandAnswer):
            return NOT_RUN
        result = seen.answer.result
        if result.end != "exited":
            return GateDecision(passed=False, message=what_went_wrong(result))
        if result.truncated:
            return CUT
        said = _said(result.stdout)
        passed = said.get("passed")
        if passed is True and not result.ok:
            return GateDecision(passed=False, message=f"{_CLAIM}: {what_went_wrong(result)}")
        if isinstance(passed, bool):
            message = said.get("message")
            shown = excerpt(message, 1000) if isinstance(message, str) else ""
            word = "the script says that it passed" if passed else "the script says that it failed"
            return GateDecision(passed=passed, message=shown or word, detail=_storable(said.get("detail")))
        return GateDecision(passed=result.ok, message=result.how_it_ended() if result.ok else what_went_wrong(result))


def says_passed(stdout: str) -> bool:
    """Return True if a script printed whether it passed."""
    return isinstance(_said(stdout).get("passed"), bool)


def says_failed(stdout: str) -> bool:
    """Return True if a script printed, among other things, that it did not pass."""
    return _said(stdout).get("passed") is not False and re.search(r'"passed"\s*:\s*(?!\s|true)', stdout) is not None


def _said(stdout: str) -> dict[str, Any]:
    try:
        value = parse_json(stdout)
    except ValueError:
        return {}
    return value if isinstance(value, dict) else {}


def _storable(detail: Any) -> Any:
    """Return the detail, or the start of its JSON if it is long, without lone surrogates, which no file can hold."""
    text = json.dumps(detail, ensure_ascii=False).encode(errors="replace").decode()
    return json.loads(text) if len(text) <= MAX_DETAIL else f"{text[:MAX_DETAIL]}…"
