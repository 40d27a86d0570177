"""One attempt of one agent at one scenario on one side: its specification and its raw record."""

from __future__ import annotations

from functools import lru_cache
from typing import Literal
from urllib.parse import quote

from tidegate.model.command import CommandResult
from tidegate.model.event import CallStatus, Event, TrialEnd
from tidegate.model.places import Places
from tidegate.model.probe import Answer
from tidegate.model.refused_host import RefusedHost
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
    "no_session",
    "resources",
    "refused_request",
    "supervisor_lost",
    "agent_error",
    "reported_outage",
    "inner_sandbox",
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


class Invocation(Value):
    """One execution of the tool under test. `argv` excludes the program; bytes that are not UTF-8 are
    backslash-escaped.
    """

    argv: tuple[str, ...]
    subcommand: str | None = None  # set when the trial is measured, not in its stored record
    cwd: str = ""
    exit_code: int | None = None  # 128 + N for signal N, as a shell reports it
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

    `end` is None if the agent never started. `not_measured` is the cause if there is no outcome, and `reason` states it
    in one sentence. `answers` are parallel to the scenario's gates (None: the gate has no request). `evaluator_answers`
    are parallel to its evaluators, each in the order of its requests. `base_answers` and `base_evaluator_answers`
    belong to base's checks that head removed or changed. `judge_answers` belong to the scenario's own judge. Trials
    that read the same and have the same `opinion` share the judge's answers. `places` are the folders that it ran in.
    """

    spec: TrialSpec
    end: TrialEnd | None = None
    end_message: str = ""
    not_measured: NotMeasured | None = None
    reason: str = ""
    started_at: float = 0.0
    agent_started_at: float = 0.0  # seconds since the epoch; 0 if it never started
    duration_s: float | None = None  # seconds of the agent's step only
    around_s: float | None = None  # seconds of all else: setup, health check, gates and scripts
    steps: tuple[Step, ...] = ()
    events: tuple[Event, ...] = ()
    invocations: tuple[Invocation, ...] = ()
    calls_known: bool = True  # False if nothing recorded how often the tool was called, as in some imported logs
    answers: tuple[Answer | None, ...] = ()
    base_answers: tuple[Answer | None, ...] = ()
    evaluator_answers: tuple[tuple[Answer, ...], ...] = ()
    base_evaluator_answers: tuple[tuple[Answer, ...], ...] = ()
    judge_answers: tuple[Answer, ...] = ()
    opinion: str = ""
    places: Places = Places()
    guidance: str = ""  # hash of the guidance files that the agent was given
    rewritten: tuple[str, ...] = ()  # of the template and of HOME: what gates use and the trial has changed
    workspace_lost: bool = False  # the agent's changes can no longer be read
    warnings: tuple[str, ...] = ()
    refused_hosts: tuple[RefusedHost, ...] = ()

    def answers_of(self, number: int) -> tuple[Answer, ...]:
        """Return the answers to the evaluator at that position, from 0; empty if it was never asked."""
        return self.evaluator_answers[number] if number < len(self.evaluator_answers) else ()


class Record(Value):
    """What is kept of a trial for readers: its prompt, its events, and a diff of the agent's changes in the workspace.

    `problem` says what is missing from it.
    """

    prompt: str = ""
    events: tuple[Event, ...] = ()
    diff: str = ""
    problem: str = ""
