"""One attempt of one agent at one scenario on one side: what was asked for, and the raw record of it."""

from __future__ import annotations

from typing import Literal
from urllib.parse import quote

from tidegate.model.command import CommandResult
from tidegate.model.event import CallStatus, Event, TrialEnd
from tidegate.model.probe import Answer
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
    "evaluator",
    "no_trace",
    "unfinished",
]
SETUP_KINDS: frozenset[NotMeasured] = frozenset({"setup", "health_check", "build"})


class TrialSpec(Value):
    """A trial that is to be run. `index` counts from 1 within side, scenario and agent."""

    side: Side
    scenario: str
    agent: str
    index: int
    phase: Phase = "screen"

    @property
    def id(self) -> str:
        """`side/scenario/agent/index`, each part percent-encoded, so that it is also a relative path."""
        return f"{self.side}/{encoded(self.scenario)}/{encoded(self.agent)}/{self.index}"


def encoded(name: str) -> str:
    """A scenario's or agent's name as one path segment (RFC 3986 percent-encoding; `.` and `..` too)."""
    text = quote(name, safe=" :@+,=")
    return text.replace(".", "%2E") if set(text) == {"."} else text


class Invocation(Value):
    """One execution of the target. `argv` is without the program; bytes that are not UTF-8 are backslash-escaped."""

    argv: tuple[str, ...]
    subcommand: str | None = None
    cwd: str = ""
    exit_code: int | None = None  # 128 + N for signal N, as a shell says it
    status: CallStatus
    started_at: float  # seconds since the epoch
    duration_s: float | None = None
    source: Literal["recorder", "events", "transcript"] = "recorder"


class Step(Value):
    """One command of setup, health check, post scripts or evaluator scripts, with its result."""

    kind: Literal["setup", "health_check", "post", "evaluator"]
    name: str = ""
    result: CommandResult


class Trial(Value):
    """The raw record of a trial, complete enough to measure it again without running anything.

    `end` is None when the agent was never started. `not_measured` says that, and why, no outcome exists;
    `reason` then says it in one sentence. `answers` are parallel to the scenario's gates (None: no question),
    `evaluator_answers` to its evaluators, each in the order of its questions; `answers_before` and
    `evaluator_answers_before` to those of base's definition that head's no longer has as they were. `judge_answers` are
    those to the scenario's judge.
    """

    spec: TrialSpec
    end: TrialEnd | None = None
    end_message: str = ""
    not_measured: NotMeasured | None = None
    reason: str = ""
    started_at: float = 0.0
    agent_started_at: float = 0.0  # seconds since the epoch; 0: never
    duration_s: float | None = None  # of the agent's step alone
    steps: tuple[Step, ...] = ()
    events: tuple[Event, ...] = ()
    invocations: tuple[Invocation, ...] = ()
    answers: tuple[Answer | None, ...] = ()
    answers_before: tuple[Answer | None, ...] = ()
    evaluator_answers: tuple[tuple[Answer, ...], ...] = ()
    evaluator_answers_before: tuple[tuple[Answer, ...], ...] = ()
    judge_answers: tuple[Answer, ...] = ()
    workspace_lost: bool = False  # nobody can tell any more what the agent changed in it
    warnings: tuple[str, ...] = ()

    def answers_of(self, number: int) -> tuple[Answer, ...]:
        """Those to the evaluator in that place, from 0; none where it was never asked."""
        return self.evaluator_answers[number] if number < len(self.evaluator_answers) else ()


class Record(Value):
    """What is kept of a trial for a reader: its events, and what the agent changed in the workspace, as a diff.

    `problem` says what is missing of it.
    """

    events: tuple[Event, ...] = ()
    diff: str = ""
    problem: str = ""
