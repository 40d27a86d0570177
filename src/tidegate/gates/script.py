"""The gate `script`."""

from __future__ import annotations

import json
from typing import Any, Literal

from tidegate.gates.command_gate import NOT_RUN, what_went_wrong
from tidegate.gates.fields import ShellCommand
from tidegate.gates.json_text import parse_json
from tidegate.model.gate import Decision, Gate, Seen
from tidegate.model.probe import CommandAnswer, RunScript
from tidegate.text.shorten import excerpt

MAX_DETAIL = 20_000
"""Maximum length of a script's stored `detail`, in characters of JSON."""


class Script(Gate):
    """Passes according to the script: a JSON object on standard output with a boolean `passed`, else exit status 0.

    The object's `message` is shown and its `detail` is stored. The environment has the script variables (`TIDEGATE_…`,
    `LLM_TOOL_TEST_…`). A script that is stopped or killed fails, regardless of its output.
    """

    type: Literal["script"] = "script"
    command: ShellCommand

    @property
    def subject(self) -> str:
        """The command."""
        return excerpt(self.command)

    def request(self) -> RunScript:
        """Run the command with the script variables."""
        return RunScript(command=self.command, timeout_secs=self.timeout_secs)

    def decide(self, seen: Seen) -> Decision:
        """Use the script's `passed` if it printed one, else its exit status."""
        if not isinstance(seen.answer, CommandAnswer):
            return NOT_RUN
        result = seen.answer.result
        if result.end != "exited":
            return Decision(passed=False, message=what_went_wrong(result))
        if result.truncated:
            return Decision(passed=False, message="the output was truncated, so the result is unknown: print less")
        said = _said(result.stdout)
        if isinstance(passed := said.get("passed"), bool):
            message = said.get("message")
            shown = excerpt(message, 1000) if isinstance(message, str) else ""
            word = "the script says that it passed" if passed else "the script says that it failed"
            return Decision(passed=passed, message=shown or word, detail=_storable(said.get("detail")))
        return Decision(passed=result.ok, message=result.how_it_ended() if result.ok else what_went_wrong(result))


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
