"""The specification of a trial, and the reasons why a trial is not measured."""

from functools import lru_cache
from typing import Literal
from urllib.parse import quote

from tidegate.model.value import Value

Side = Literal["base", "head"]
Phase = Literal["screen", "confirm", "verify", "history"]
NotMeasured = Literal[
    "setup",
    "health_check",
    "build",
    "secret",
    "missing_agent",
    "auth",
    "outage",
    "infrastructure",
    "budget",
    "cancelled",
    "judge",
    "unreadable_judge",
    "evaluator",
    "no_trace",
    "unfinished",
    "record_lost",
    "rewritten",
    "no_session",
    "resources",
    "refused_request",
    "supervisor_lost",
    "agent_error",
    "reported_outage",
    "overtime",
    "replay_only",
    "worker_lost",
    "lost_shard",
]
SETUP_KINDS: frozenset[NotMeasured] = frozenset({"setup", "health_check", "build", "refused_request"})
# Causes that no process of a trial can bring about. All others are inside: what the pull request changed may have
# caused them. `outage` is only what the model proxy got from the provider itself (429, 5xx, no connection), not what
# an agent's log reports, which is `reported_outage`. `judge` is an outage of the judge, not an unreadable answer.
# `auth` is a refused key, after which no trial of the agent starts. `infrastructure` is only what failed outside of
# every trial.
_OUTSIDE: frozenset[NotMeasured] = frozenset(
    {"secret", "auth", "outage", "infrastructure", "budget", "cancelled", "judge", "replay_only"}
)


def is_inside(cause: NotMeasured | None) -> bool:
    """Return True if a process of a trial can have caused that the trial was not measured; None: unknown."""
    return cause not in _OUTSIDE


class TrialSpec(Value):
    """A trial to run. `index` counts from 1 within side, scenario and agent."""

    side: Side
    scenario: str
    agent: str
    index: int
    phase: Phase = "screen"

    @property
    def id(self) -> str:
        """The trial's id, `side/scenario/agent/index`. Each part is percent-encoded, so it is also a relative path."""
        return f"{self.side}/{encoded(self.scenario)}/{encoded(self.agent)}/{self.index}"


@lru_cache(maxsize=4096)
def encoded(name: str) -> str:
    """Return a scenario's or agent's name as one path segment (RFC 3986 percent-encoding; `.` and `..` too)."""
    text = quote(name, safe=" :@+,=")
    return text.replace(".", "%2E") if set(text) == {"."} else text
