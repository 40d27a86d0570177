"""How an agent used the target: invocations → metrics. The definitions and their test vectors are in metrics.md."""

from __future__ import annotations

import shlex
from collections import Counter
from collections.abc import Sequence

from tidegate.model.event import COUNTED, CallStatus, End, ToolCall
from tidegate.model.measurement import InvocationCounts, Metrics, SubcommandCounts
from tidegate.model.suite import Price
from tidegate.model.trial import Invocation, Trial
from tidegate.text.patterns import PatternTooSlowError, search


def subcommand(binary: str, argv: Sequence[str], pattern: str | None) -> str | None:
    """What a call asks of the target: the pattern's first group on the command line, else the first non-option."""
    try:
        match = search(pattern, shlex.join([binary, *argv])) if pattern else None
    except PatternTooSlowError:
        match = None
    if match and match.re.groups and match[1]:
        return match[1]
    return next((argument for argument in argv if argument and not argument.startswith("-")), None)


def is_help(argv: Sequence[str]) -> bool:
    """The call only asks for help: `--help` or `-h` anywhere, or `help` as the first argument."""
    return "--help" in argv or "-h" in argv or (len(argv) > 0 and argv[0] == "help")


def in_order(invocations: Sequence[Invocation]) -> tuple[Invocation, ...]:
    """The invocations in the order in which they started."""
    return tuple(sorted(invocations, key=lambda call: call.started_at))


def counted(invocations: Sequence[Invocation]) -> tuple[Invocation, ...]:
    """The invocations that metrics count (ended, and it is known how), in the order in which they started."""
    return tuple(call for call in in_order(invocations) if call.status in COUNTED)


def failed(invocation: Invocation) -> bool:
    """A counted invocation ended with a non-zero exit status or timed out."""
    return invocation.status in ("error", "timeout")


def interaction_metrics(invocations: Sequence[Invocation]) -> Metrics:
    """The metrics that the target's calls alone tell; every rate is None when no call was counted."""
    calls = counted(invocations)
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
    """All metrics of a trial. What the agent did not report stays None, but for the cost, if its model has a price."""
    end = next((event for event in reversed(trial.events) if isinstance(event, End)), End(end="crashed"))
    tool_calls = sum(isinstance(event, ToolCall) for event in trial.events)
    return interaction_metrics(trial.invocations).model_copy(
        update={
            "completed": trial.end == end.end == "completed",
            "step_efficiency": None if minimum_steps is None else _share(minimum_steps, tool_calls),
            "turns": end.turns,
            "tokens_in": end.tokens_in,
            "tokens_out": end.tokens_out,
            "cost_usd": cost_of(end, price),
            "duration_s": trial.duration_s,
        }
    )


def subcommand_counts(invocations: Sequence[Invocation]) -> dict[str, SubcommandCounts]:
    """The counted invocations of each subcommand; calls without one are left out."""
    groups: dict[str, list[Invocation]] = {}
    for call in counted(invocations):
        if call.subcommand is not None:
            groups.setdefault(call.subcommand, []).append(call)
    metrics = {name: interaction_metrics(calls) for name, calls in groups.items()}
    return {
        name: SubcommandCounts(count=m.command_count, errors=m.error_count, retries=m.retry_count, help=m.help_count)
        for name, m in metrics.items()
    }


def invocation_counts(invocations: Sequence[Invocation]) -> InvocationCounts:
    """Where all invocations were seen, and how many of them no metric counts, by status."""
    sources = Counter(call.source for call in invocations)
    not_counted: Counter[CallStatus] = Counter(call.status for call in invocations if call.status not in COUNTED)
    return InvocationCounts(
        recorder=sources["recorder"],
        events=sources["events"],
        transcript=sources["transcript"],
        unseen_by_recorder=sources["events"],
        approximate=sources["transcript"] > 0,
        not_counted=dict(not_counted),
    )


def cost_of(end: End, price: Price | None) -> float | None:
    """USD as the agent told it, or for its tokens; those from and for the cache have rates of their own."""
    if end.cost_usd is not None or price is None or end.tokens_in is None or end.tokens_out is None:
        return end.cost_usd
    read, written = end.tokens_cache_read or 0, end.tokens_cache_write or 0
    plain = max(0, end.tokens_in - read - written)
    parts = (
        (plain, price.input),
        (read, price.cache_read),
        (written, price.cache_write),
        (end.tokens_out, price.output),
    )
    return sum(tokens * rate for tokens, rate in parts) / 1_000_000


def _share(part: int, whole: int) -> float | None:
    return part / whole if whole else None


def _retries_after_failure(calls: Sequence[Invocation]) -> int:
    """Calls whose latest earlier call of the same subcommand failed; calls without a subcommand have no earlier one."""
    latest: dict[str, Invocation] = {}
    retries = 0
    for call in calls:
        if call.subcommand is None:
            continue
        earlier = latest.get(call.subcommand)
        retries += earlier is not None and failed(earlier)
        latest[call.subcommand] = call
    return retries
