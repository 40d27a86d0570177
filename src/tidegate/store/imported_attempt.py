"""One attempt measured by another tool, independent of that tool's file format."""

from __future__ import annotations

from tidegate.model.event import End, Event
from tidegate.model.measurement import EvaluatorResult, GateResult, Outcome
from tidegate.model.trial import Trial, TrialSpec
from tidegate.model.value import Value


class PastAttempt(Value):
    """An imported attempt. Without an outcome it was not measured, and `reason` says why. `at` is in Unix seconds."""

    scenario: str
    agent: str
    model: str | None = None
    outcome: Outcome | None
    reason: str
    prompt: str = ""
    at: float = 0.0
    score: float | None = None
    cost_usd: float | None = None
    events: tuple[Event, ...] = ()
    gates: tuple[GateResult, ...] = ()
    evaluators: tuple[EvaluatorResult, ...] = ()

    def trial(self, spec: TrialSpec) -> Trial:
        """Return the attempt as a trial record without answers to gates or evaluators."""
        end = next((event for event in reversed(self.events) if isinstance(event, End)), End(end="crashed"))
        return Trial(
            spec=spec,
            end=end.end,
            end_message=end.message,
            not_measured=None if self.outcome else "infrastructure",
            reason="" if self.outcome else self.reason,
            started_at=self.at,
            agent_started_at=self.at,
            events=self.events,
        )
