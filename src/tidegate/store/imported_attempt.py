"""One attempt that another tool has measured, in whichever format that was."""

from __future__ import annotations

from tidegate.model.event import End, Event
from tidegate.model.measurement import EvaluatorResult, GateResult, Outcome
from tidegate.model.trial import Trial, TrialSpec
from tidegate.model.value import Value


class PastAttempt(Value):
    """What is known of it. Without an outcome it was not measured, and `reason` says why. `at`: Unix seconds."""

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
        """As a record of ours, of which nothing was asked yet."""
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
