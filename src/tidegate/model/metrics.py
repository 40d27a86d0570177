"""What is counted in a trial."""

from __future__ import annotations

from tidegate.model.event import CallStatus
from tidegate.model.value import Value

DETAILS = ("plan_adherence", "tool_routing_accuracy", "tool_precision", "parameter_schema_valid")
"""Metrics that are details of evaluators."""


class SubcommandCounts(Value):
    """Counted invocations of one subcommand."""

    count: int = 0
    errors: int = 0
    retries: int = 0
    help: int = 0


class InvocationCounts(Value):
    """How many invocations each source recorded. `approximate` is True if any came from transcript text.

    `not_counted` has the calls that are in no rate, by status; None if the calls are not known.
    `uses` counts the calls that ask the tool to do something: all but those for help or its version.
    """

    recorder: int = 0
    events: int = 0
    transcript: int = 0
    unseen_by_recorder: int = 0
    approximate: bool = False
    not_counted: dict[CallStatus, int] | None = {}  # denied, background, unfinished, unknown, …
    uses: int | None = 0  # None if the calls are not known


class Metrics(Value):
    """The metrics of a trial. None means "not available", never 0 or 1. Rates are from 0 to 1, times in seconds.

    The counts are None if the calls are not known, or the end of none of them.
    """

    command_count: int | None = 0
    unique_commands: int | None = 0
    error_count: int | None = 0
    error_rate: float | None = None
    retry_count: int | None = 0
    retry_rate: float | None = None
    retry_after_failure_rate: float | None = None
    help_count: int | None = 0
    first_try_success_rate: float | None = None
    iteration_ratio: float | None = None
    completed: bool | None = False
    step_efficiency: float | None = None
    turns: int | None = None
    tokens_in: int | None = None
    tokens_out: int | None = None
    cost_usd: float | None = None
    duration_s: float | None = None
    plan_adherence: float | None = None
    tool_routing_accuracy: float | None = None
    tool_precision: float | None = None
    parameter_schema_valid: float | None = None
    case_score: float | None = None
    judge_score: float | None = None
