"""The raw record of a trial, and what is kept of it for readers."""

from __future__ import annotations

from typing import Literal

from tidegate.model.command import CommandResult
from tidegate.model.event import Event, TrialEnd
from tidegate.model.invocation import Invocation
from tidegate.model.places import Places
from tidegate.model.probe import Answer
from tidegate.model.refused_host import RefusedHost
from tidegate.model.trial_spec import NotMeasured, TrialSpec
from tidegate.model.value import Value


class Step(Value):
    """One command of setup, health check, post scripts or evaluator scripts, with its result."""

    kind: Literal["setup", "health_check", "post", "evaluator"]
    name: str = ""
    result: CommandResult


class Trial(Value):
    """The raw record of a trial, complete enough to measure it again without running anything.

    `end` is None if the agent never started. `not_measured` is the cause if there is no outcome, and `reason` states it
    in one sentence. `answers` are parallel to the scenario's gates (None: the gate has no request). `evaluator_answers`
    are parallel to its evaluators, each in the order of its requests. `judge_answers` belong to the scenario's own
    judge. Trials that read the same and have the same `opinion` share the judge's answers. `places` are the folders
    that it ran in.
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
    evaluator_answers: tuple[tuple[Answer, ...], ...] = ()
    judge_answers: tuple[Answer, ...] = ()
    opinion: str = ""
    places: Places = Places()
    guidance: str = ""  # hash of the guidance files that the agent was given
    rewritten: tuple[str, ...] = ()  # files of its start that the trial has changed or removed
    untested: tuple[str, ...] = ()  # the program that head's `path` finds, if any, and another one that was used
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
