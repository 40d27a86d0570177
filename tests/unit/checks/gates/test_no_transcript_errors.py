"""The gate `no_transcript_errors`."""

from __future__ import annotations

from tidegate.checks.gates.no_transcript_errors import NoTranscriptErrors
from tidegate.model.event import CallStatus, Invocation
from tidegate.model.gate import GateDecision, GateInput

GATE = NoTranscriptErrors()


def seen(*statuses: CallStatus) -> GateInput:
    calls = [
        Invocation(argv=("add", str(at)), status=status, exit_code=2 if status == "error" else None, started_at=at)
        for at, status in enumerate(statuses)
    ]
    return GateInput(invocations=tuple(calls))


def test_asks_for_nothing() -> None:
    assert GATE.request() is None
    assert GATE.label == "no_transcript_errors"


def test_passes_without_failure() -> None:
    assert GATE.decide(seen("ok", "ok")) == GateDecision(passed=True, message="none of 2 calls of the target failed")


def test_passes_and_says_so_when_the_target_was_never_called() -> None:
    assert GATE.decide(seen()) == GateDecision(passed=True, message="the target was never called")


def test_fails_with_the_first_failure() -> None:
    decision = GATE.decide(seen("ok", "error", "timeout"))
    assert decision == GateDecision(passed=False, message="2 of 3 calls of the target failed, first `add 1` (exit 2)")
    assert GATE.decide(seen("timeout")).message == "1 of 1 calls of the target failed, first `add 0` (timed out)"


def test_calls_whose_end_is_not_known_are_said_not_counted() -> None:
    assert GATE.decide(seen("ok", "unknown", "denied")).message == (
        "none of 1 calls of the target failed (2 not counted)"
    )
    decision = GATE.decide(seen("unfinished"))
    assert decision == GateDecision(passed=True, message="no call of the target was seen to end (1 not counted)")


def test_a_failed_call_without_an_exit_code_is_an_error() -> None:
    call = Invocation(argv=("add_item",), status="error", started_at=0)
    assert (
        GATE.decide(GateInput(invocations=(call,))).message
        == "1 of 1 calls of the target failed, first `add_item` (error)"
    )
