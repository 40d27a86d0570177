"""Which calls of the target count, and the metrics computed from them. test_metrics.py has examples of each."""

from __future__ import annotations

import shlex
from collections import Counter
from collections.abc import Sequence

from tidegate.model.event import COUNTED, CallStatus, End, Invocation, ToolCall
from tidegate.model.measurement import InvocationCounts, Metrics, SubcommandCounts
from tidegate.model.prices import Price
from tidegate.model.target import Target
from tidegate.model.trial import Trial
from tidegate.text.patterns import PatternTooSlowError, search


def subcommand(binary: str, argv: Sequence[str], pattern: str | None) -> str | None:
    """Return the pattern's first group in the command line, else the first argument that is not an option."""
    try:
        match = search(pattern, shlex.join([binary, *argv])) if pattern else None
    except PatternTooSlowError:
        match = None
    if match and match.re.groups and match[1]:
        return match[1]
    return next((argument for argument in argv if argument and not argument.startswith("-")), None)


def as_defined(invocations: Sequence[Invocation], target: Target) -> tuple[Invocation, ...]:
    """Return the invocations with subcommands by the target's `command_pattern`, and failures by its `ok_statuses`."""
    pattern = None if target.mcp else target.command_pattern  # a server's subcommands are its tools
    return tuple(
        call.model_copy(
            update={"subcommand": subcommand(target.binary, call.argv, pattern), "status": _status(call, target)}
        )
        for call in invocations
    )


def _status(call: Invocation, target: Target) -> CallStatus:
    if call.exit_code is None or call.status not in ("ok", "error"):  # a server's tools have no exit code
        return call.status
    return "ok" if call.exit_code in target.ok_statuses else "error"


def is_help(argv: Sequence[str]) -> bool:
    """Return True if the call asks for help: `--help` or `-h` anywhere, or `help` as the first argument."""
    return "--help" in argv or "-h" in argv or (len(argv) > 0 and argv[0] == "help")


def _only_informs(argv: Sequence[str]) -> bool:
    """Return True if the call asks for help or for the tool's version."""
    return is_help(argv) or (len(argv) == 1 and argv[0] in ("--version", "-V", "-v", "version"))


def is_use(call: Invocation) -> bool:
    """Return True if the call was not denied and does more than print help or the version."""
    return call.status != "denied" and not _only_informs(call.argv)


def in_order(invocations: Sequence[Invocation]) -> tuple[Invocation, ...]:
    """Return the invocations sorted by start time."""
    return tuple(sorted(invocations, key=lambda call: call.started_at))


def counted(invocations: Sequence[Invocation]) -> tuple[Invocation, ...]:
    """Return the invocations that metrics count, sorted by start time: those that ended with a known status."""
    return tuple(call for call in in_order(invocations) if call.status in COUNTED)


def failed(invocation: Invocation) -> bool:
    """Return True if a counted invocation timed out or did not end with one of the target's `ok_statuses`."""
    return invocation.status in ("error", "timeout")


_COUNTS = ("command_count", "unique_commands", "error_count", "retry_count", "help_count")


def interaction_metrics(invocations: Sequence[Invocation], *, known: bool = True) -> Metrics:
    """Return the metrics that follow from the target's calls alone. Every rate is None if no call is counted.

    The counts are None, too, if the calls are not `known`, or no call is counted and the end of some is unknown.
    """
    calls = counted(invocations)
    if not calls and (not known or any(call.status == "unknown" for call in invocations)):
        return Metrics(**dict.fromkeys(_COUNTS))
    first = {call.argv: call for call in reversed(calls)}  # distinct argv, each with its first invocation
    total, unique = len(calls), len(first)
    errors = sum(map(failed, calls))
    return Metrics(
        command_count=total,
        unique_commands=unique,
        error_count=errors,
        error_rate=_share(errors, total),
        retry_count=total - unique,
        retry_rate=_share(total - unique, total),
        retry_after_failure_rate=_share(_retries_after_failure(calls), total),
        help_count=sum(is_help(call.argv) for call in calls),
        first_try_success_rate=_share(sum(not failed(call) for call in first.values()), unique),
        iteration_ratio=_share(unique, total),
    )


def trial_metrics(trial: Trial, minimum_steps: int | None, price: Price | None = None) -> Metrics:
    """Return all metrics of a trial. Values that the agent did not report are None.

    If the agent did not report its cost, it is computed from the tokens, provided the model has a price.
    """
    end = next((event for event in reversed(trial.events) if isinstance(event, End)), End(end="crashed"))
    tool_calls = sum(isinstance(event, ToolCall) for event in trial.events)
    return interaction_metrics(trial.invocations, known=trial.calls_known).model_copy(
        update={
            "completed": None if trial.end is None else trial.end == end.end == "completed",
            "step_efficiency": None if minimum_steps is None else _share(minimum_steps, tool_calls),
            "turns": end.turns,
            "tokens_in": end.tokens_in,
            "tokens_out": end.tokens_out,
            "cost_usd": cost_of(end, price),
            "duration_s": trial.duration_s,
        }
    )


def subcommand_counts(invocations: Sequence[Invocation]) -> dict[str, SubcommandCounts]:
    """Return the counts for each subcommand. Calls without a subcommand are left out."""
    groups: dict[str, list[Invocation]] = {}
    for call in counted(invocations):
        if call.subcommand is not None:
            groups.setdefault(call.subcommand, []).append(call)
    return {
        name: SubcommandCounts(
            count=len(calls),
            errors=sum(map(failed, calls)),
            retries=len(calls) - len({call.argv for call in calls}),
            help=sum(is_help(call.argv) for call in calls),
        )
        for name, calls in groups.items()
    }


def invocation_counts(invocations: Sequence[Invocation], *, known: bool = True) -> InvocationCounts:
    """Return how many invocations each source recorded, and how many are in no metric, by status."""
    sources = Counter(call.source for call in invocations)
    not_counted: Counter[CallStatus] = Counter(call.status for call in invocations if call.status not in COUNTED)
    return InvocationCounts(
        recorder=sources["recorder"],
        events=sources["events"],
        unseen_by_recorder=sources["events"],
        not_counted=dict(not_counted) if known else None,
        uses=sum(map(is_use, invocations)) if known else None,
    )


def cost_of(end: End, price: Price | None) -> float | None:
    """Return the cost in USD as the agent reported it, else from its tokens; cached tokens have their own rates.

    The reported cost leaves out an answer that was cut off. The larger of both then counts.
    """
    is_whole = end.cost_usd is not None and not end.tokens_guessed
    if is_whole or price is None or end.tokens_in is None or end.tokens_out is None:
        return end.cost_usd
    read, written = end.tokens_cache_read or 0, end.tokens_cache_write or 0
    plain = max(0, end.tokens_in - read - written)
    parts = (
        (plain, price.input),
        (read, price.cache_read),
        (written, price.cache_write),
        (end.tokens_out, price.output),
    )
    return max(end.cost_usd or 0.0, sum(tokens * rate for tokens, rate in parts) / 1_000_000)


def _share(part: int, whole: int) -> float | None:
    return part / whole if whole else None


def _retries_after_failure(calls: Sequence[Invocation]) -> int:
    """Count the calls whose previous call of the same subcommand failed. Calls without a subcommand are skipped."""
    latest: dict[str, Invocation] = {}
    retries = 0
    for call in calls:
        if call.subcommand is None:
            continue
        earlier = latest.get(call.subcommand)
        retries += earlier is not None and failed(earlier)
        latest[call.subcommand] = call
    return retries
