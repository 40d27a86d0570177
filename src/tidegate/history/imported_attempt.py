"""One attempt measured by another tool, independent of that tool's file format."""

from __future__ import annotations

from tidegate.agents.invocations.from_log import logged_invocations
from tidegate.model.event import End, Event
from tidegate.model.measurement import EvaluatorResult, GateResult, Outcome
from tidegate.model.target import Target
from tidegate.model.trial import Trial
from tidegate.model.trial_spec import TrialSpec
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
    duration_s: float | None = None
    score: float | None = None
    cost_usd: float | None = None
    events: tuple[Event, ...] = ()
    gates: tuple[GateResult, ...] = ()
    evaluators: tuple[EvaluatorResult, ...] = ()

    def trial(self, spec: TrialSpec, target: Target | None = None) -> Trial:
        """Return the attempt as a trial record without answers to gates or evaluators.

        The calls of `target` are read from the events. What the log does not tell stays unknown.
        """
        end = next((event for event in reversed(self.events) if isinstance(event, End)), None)
        calls = logged_invocations(self.events, target, self.at) if target else None
        return Trial(
            spec=spec,
            end=end and end.end,
            end_message=end.message if end else "",
            duration_s=self.duration_s,
            invocations=calls or (),
            calls_known=calls is not None,
            not_measured=None if self.outcome else "infrastructure",
            reason="" if self.outcome else self.reason,
            started_at=self.at,
            agent_started_at=self.at,
            events=self.events,
        )
