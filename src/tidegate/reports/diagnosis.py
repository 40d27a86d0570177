"""Derive a likely cause from a row's metrics and calls, with the numbers that support it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from tidegate.comparison.metric_tests import RULES
from tidegate.model.comparison import MetricChange, Row
from tidegate.model.measurement import AgentInfo, Call, TrialResult
from tidegate.model.suite import Diagnosis
from tidegate.model.value import Value
from tidegate.reports.filters import number, percent, to

DEFAULTS = Diagnosis()
LOW_FIRST_TRY = 0.5
LOW_STEP_EFFICIENCY = 0.5
_RATE_MARGIN, _HELP_MARGIN = RULES["error_rate"].margin, RULES["help_count"].margin  # smaller changes are ignored
_OPTION = re.compile(r"(?<!\S)--?[A-Za-z][\w-]*")
_REFUSAL = re.compile(r"unrecogni[sz]ed|unknown|no such|unexpected|invalid|not (?:recogni|defined|found|support)", re.I)
_NOT_THERE = MetricChange(base=None, head=None)
_CRASH = re.compile(  # an interpreter's last message: at the start, or after its stack trace, which is cut out
    r"(?:^|(?<=[^:]\s))(?:\w+\.)*[A-Z]\w*(?:Error|Exception)(?:: |$)"
    r"|(?:^|\s)panic: |^thread '.*' panicked at|Traceback \(most recent call last\)|Exception in thread "
)
_FOLLOWS_DOCS = "doc-follower"
_NEVER_REACT = frozenset({_FOLLOWS_DOCS, "scripted", "replay"})  # to an error message, or to help


class Diagnosed(Value):
    """One likely cause for one row. `numbers` and `says` are Tidegate's texts.

    `about`: the subcommand or option concerned; it is data, so it has to be escaped.
    """

    row: Row
    numbers: str
    says: str
    about: str | None = None


class _Calls(NamedTuple):
    """What the calls show: an option that head refuses, crashes, and the type of the agent that made them."""

    refused: str | None
    crash: bool
    agent: str


def diagnose(
    rows: Iterable[Row],
    trials: Sequence[TrialResult],
    limits: Diagnosis = DEFAULTS,
    agents: Mapping[str, AgentInfo] | None = None,
) -> Iterator[Diagnosed]:
    """Yield likely causes for each row that regressed, or whose metrics are worse on head than on base.

    `limits` are the suite's thresholds. Agents that never react to the tool's output get no diagnosis that depends on
    how the agent behaved; an agent missing from `agents` may be of any type.
    """
    for row in rows:
        if _never_starts(row):
            says = "every call fails, and every call for help: the target itself seems broken"
            yield _said(row, _rates("error rate", _metric(row, "error_rate")), says)
        elif row.head.trials:
            own = [trial for trial in trials if trial.key == row.key]
            head = [trial for trial in own if trial.side == "head"]
            agent = (agents or {}).get(row.agent)
            calls = _Calls(refused_option(own), _crashes(head), agent.type if agent else "")
            yield from _patterns(row, limits, calls)
            if calls.agent not in _NEVER_REACT:
                yield from _retries(row, head, limits)


def _never_starts(row: Row) -> bool:
    """Return True if every call on head fails, even those for help: then docs and help text are not the cause."""
    errors, calls_for_help = _metric(row, "error_rate"), _metric(row, "help_count")
    return errors.head == 1 and errors.base != 1 and (calls_for_help.head or 0) > 0


def _patterns(row: Row, limits: Diagnosis, calls: _Calls) -> Iterator[Diagnosed]:
    yield from _errors_and_help(row, limits, calls)
    first_try, steps = _metric(row, "first_try_success_rate"), _metric(row, "step_efficiency")
    if _below(row, first_try, LOW_FIRST_TRY) and not _errors_high(row, limits):
        yield _said(row, _rates("first-try success", first_try), "the docs mislead, or the CLI surprises")
    if _below(row, steps, LOW_STEP_EFFICIENCY):
        yield _said(row, _rates("step efficiency", steps), "confused planning, or redundant calls")
    commands, completed = _metric(row, "command_count"), _metric(row, "completed")
    more = commands.base and commands.head and commands.head >= commands.base * limits.commands_ratio
    if more and completed.head == 1 and not _errors_high(row, limits):
        yield _said(row, _amounts("commands", commands), "the commands are described, the workflow is not")


def _errors_and_help(row: Row, limits: Diagnosis, calls: _Calls) -> Iterator[Diagnosed]:
    errors, calls_for_help = _metric(row, "error_rate"), _metric(row, "help_count")
    if errors.head is None:
        return
    numbers = f"{_rates('error rate', errors)}, {_amounts('calls for help', calls_for_help)}"
    high_help = (calls_for_help.head or 0) >= limits.help
    if _errors_high(row, limits):
        if says := _why_errors(calls, high_help):
            yield Diagnosed(row=row, numbers=numbers, says=says, about=None if calls.crash else calls.refused)
    elif high_help and _worse(row, calls_for_help, _HELP_MARGIN) and calls.agent not in _NEVER_REACT:
        yield _said(row, numbers, "the docs give too little up front, the help is good")
    elif row.state == "improved" and not high_help:
        yield _said(row, numbers, "docs and CLI are clear")


def _why_errors(calls: _Calls, high_help: bool) -> str:
    """Return the likely cause of a high error rate; '' for an agent that ignores the tool's output and docs."""
    if calls.crash:
        return "the tool crashes: its calls end in an unhandled exception"
    if calls.refused:
        return (
            "the tool no longer takes an option that it took on base: look where the docs, or the scenario's prompt,"
            " still name it"
        )
    if calls.agent == _FOLLOWS_DOCS:
        return "commands that the docs show fail: look for wrong examples in the docs"
    if calls.agent in _NEVER_REACT:
        return ""
    if high_help:
        return "the help text is not enough: missing examples, unclear arguments"
    return "the agent thinks that it knows the syntax and does not: look for wrong examples in the docs"


def _crashes(trials: Sequence[TrialResult]) -> bool:
    """Return True if at least half of the failed calls with known output ended in an unhandled exception."""
    failed = [call.message for trial in trials for call in trial.calls if call.status == "error" and call.message]
    crashed = sum(_CRASH.search(message) is not None for message in failed)
    return crashed > 0 and 2 * crashed >= len(failed)


def _errors_high(row: Row, limits: Diagnosis) -> bool:
    errors = _metric(row, "error_rate")
    return (errors.head or 0) >= limits.error_rate and _worse(row, errors, _RATE_MARGIN)


def _retries(row: Row, trials: Sequence[TrialResult], limits: Diagnosis) -> Iterator[Diagnosed]:
    """Yield the subcommand that head's trials repeated most, if the retry rate is high and worse than on base."""
    rate = _metric(row, "retry_rate")
    if (rate.head or 0) < limits.retry_rate or not _worse(row, rate, _RATE_MARGIN):
        return
    retries: dict[str, int] = {}
    for trial in trials:
        for name, counts in trial.subcommands.items():
            retries[name] = retries.get(name, 0) + counts.retries
    if retries and max(retries.values()):
        yield Diagnosed(
            row=row,
            numbers=_rates("retry rate", rate),
            says="retries on one subcommand, whose error message does not help to correct the call",
            about=max(retries, key=lambda name: retries[name]),
        )


def refused_option(trials: Sequence[TrialResult]) -> str | None:
    """Return the first option that the tool refuses on head and accepts on base; None if there is none.

    Only calls before the agent's first call for help count: later ones may be guesses after reading it.
    """
    taken = {
        (_subcommand(call), option)
        for trial in trials
        if trial.side == "base"
        for call in trial.calls
        if call.status == "ok"
        for option in _OPTION.findall(call.command)
    }
    first = [_first_refused(trial.calls) for trial in trials if trial.side == "head"]
    return next((option for name, option in filter(None, first) if (name, option) in taken), None)


def _first_refused(calls: Sequence[Call]) -> tuple[str, str] | None:
    """Return subcommand and option of the first call refused for an option, before any call for help; else None."""
    for call in calls:
        options = _OPTION.findall(call.command)
        if "--help" in options or "-h" in options:
            return None
        lines = [line for line in call.message.splitlines() if _REFUSAL.search(line)] if call.status != "ok" else []
        for option in options:
            if any(option in _OPTION.findall(re.sub(r"[\"'`:,;()]", " ", line)) for line in lines):
                return _subcommand(call), option
    return None


def _subcommand(call: Call) -> str:
    """Return the first two words of a command line: `tool add`."""
    return " ".join(call.command.split()[:2])


def _worse(row: Row, change: MetricChange, margin: float) -> bool:
    """Return True if head's value exceeds base's by the margin, or if the row regressed or is unconfirmed."""
    if row.state in ("regressed", "unconfirmed") or change.base is None or change.head is None:
        return row.state in ("regressed", "unconfirmed")
    return change.head >= change.base + margin


def _below(row: Row, change: MetricChange, threshold: float) -> bool:
    if change.head is None or change.head >= threshold:
        return False
    return row.state in ("regressed", "unconfirmed") or (
        change.base is not None and change.head <= change.base - _RATE_MARGIN
    )


def _metric(row: Row, name: str) -> MetricChange:
    return row.metrics.get(name, _NOT_THERE)


def _rates(name: str, change: MetricChange) -> str:
    return f"{name} {to(percent(change.base), percent(change.head))}"


def _amounts(name: str, change: MetricChange) -> str:
    return f"{name} {to(number(change.base), number(change.head))}"


def _said(row: Row, numbers: str, says: str) -> Diagnosed:
    return Diagnosed(row=row, numbers=numbers, says=says)
