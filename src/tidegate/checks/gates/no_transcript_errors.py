"""The gate `no_transcript_errors`."""

from __future__ import annotations

import shlex
from typing import Literal

from tidegate.agents.invocations.metrics import counted, failed
from tidegate.model.event import Invocation, how_it_ended
from tidegate.model.gate import Gate, GateDecision, GateInput
from tidegate.text.shorten import excerpt


class NoTranscriptErrors(Gate):
    """Passes when no call of the tool under test failed or timed out.

    A call failed if it exited with none of the `ok_statuses` of `target` (only 0, unless they are set). The gate also
    passes if the tool was never called; the message says so.
    """

    type: Literal["no_transcript_errors"] = "no_transcript_errors"

    def decide(self, seen: GateInput) -> GateDecision:
        """Count the failures among the calls whose end is known."""
        calls = counted(seen.invocations)
        failures = [call for call in calls if failed(call)]
        if failures:
            said = f"{len(failures)} of {len(calls)} calls of the target failed, first {_shown(failures[0])}"
        elif calls:
            said = f"none of {len(calls)} calls of the target failed"
        else:
            said = "no call of the target was seen to end" if seen.invocations else "the target was never called"
        others = len(seen.invocations) - len(calls)
        return GateDecision(passed=not failures, message=f"{said} ({others} not counted)" if others else said)


def _shown(call: Invocation) -> str:
    ended = "timed out" if call.status == "timeout" else how_it_ended(call.status, call.exit_code)
    return f"`{excerpt(shlex.join(call.argv), 120)}` ({ended})"
