"""Derive a likely cause from a row's metrics and calls, with the numbers that support it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from statistics import fmean

from tidegate.model.agent import FREE
from tidegate.model.comparison import HeadCounts, MetricChange, Row
from tidegate.model.measurement import AgentInfo, Run, TrialResult, by_row
from tidegate.model.suite import RULES, Diagnosis
from tidegate.model.value import Value
from tidegate.reports.filters import number, percent, to

DEFAULTS = Diagnosis()
LOW_FIRST_TRY = 0.5
LOW_STEP_EFFICIENCY = 0.5
_RATE_MARGIN, _HELP_MARGIN = RULES["error_rate"].margin, RULES["help_count"].margin  # smaller changes are ignored
_POOR_HELP = "the help text is not enough: missing examples, unclear arguments"
_WRONG_SYNTAX = "the agent guesses wrong syntax: check the examples in the docs"
_NOT_THERE = MetricChange(base=None, head=None)
_NAMES = ("error_rate", "help_count", "retry_rate", "first_try_success_rate", "step_efficiency", "completed")


class Saying(Value):
    """A likely cause for one or more rows with the same numbers. `about`: the subcommand or option, as data."""

    rows: tuple[Row, ...]
    numbers: str
    says: str
    about: str | None = None


def diagnose(
    rows: Iterable[Row],
    trials: Sequence[TrialResult],
    limits: Diagnosis = DEFAULTS,
    agents: Mapping[str, AgentInfo] | None = None,
) -> Iterator[Saying]:
    """Yield likely causes for each row that regressed, or whose metrics are worse on head than on base.

    `limits` are the suite's thresholds. Agents that never react to the tool's output get no diagnosis that depends on
    how the agent behaved; an agent missing from `agents` may be of any type.
    """
    of_head = by_row(trial for trial in trials if trial.side == "head")
    for row in rows:
        if _never_starts(row):
            says = "every call fails, even calls for help: the tool itself seems broken"
            yield _said(row, _rates("error rate", _metric(row, "error_rate")), says)
        elif row.head.trials:
            agent = (agents or {}).get(row.agent)
            reacts = agent is None or agent.type not in FREE  # only a model reacts to an error message, or to help
            yield from _patterns(row, limits, reacts=reacts)
            if reacts:
                yield from _retries(row, of_head[row.key], limits)


def diagnose_run(run: Run) -> Iterator[Saying]:
    """Yield likely causes for the rows of one run, from its own metrics: there is no other side to compare with."""
    trials = by_row(trial for trial in run.as_side("head").trials if trial.decides)
    for key, of_row in trials.items():
        metrics = {}
        for name in _NAMES:
            values = [float(value) for trial in of_row if (value := getattr(trial.metrics, name)) is not None]
            metrics[name] = MetricChange(base=None, head=fmean(values) if values else None)
        head = HeadCounts(trials=len(of_row))
        # In a row that may be worse, the thresholds alone decide.
        row = Row(**vars(key), state="unconfirmed", reason="", head=head, metrics=metrics)
        yield from diagnose([row], of_row, run.diagnosis, run.agents)


def hint(found: Saying) -> str:
    """Return the likely cause as one sentence, after its row."""
    about = f" (`{found.about}`)" if found.about else ""
    return f"{found.rows[0].key}: {found.numbers}: {found.says}{about}"


def _never_starts(row: Row) -> bool:
    """Return True if every call on head fails, even those for help: then docs and help text are not the cause."""
    errors, calls_for_help = _metric(row, "error_rate"), _metric(row, "help_count")
    return errors.head == 1 and errors.base != 1 and (calls_for_help.head or 0) > 0


def _patterns(row: Row, limits: Diagnosis, *, reacts: bool) -> Iterator[Saying]:
    errors, calls_for_help = _metric(row, "error_rate"), _metric(row, "help_count")
    numbers = f"{_rates('error rate', errors)}, {_amounts('calls for help', calls_for_help)}"
    many_errors, much_help = _high(row, "error_rate", limits.error_rate), (calls_for_help.head or 0) >= limits.help
    if many_errors and reacts:
        yield _said(row, numbers, _POOR_HELP if much_help else _WRONG_SYNTAX)
    elif errors.head is not None and reacts and not many_errors and _high(row, "help_count", limits.help, _HELP_MARGIN):
        yield _said(row, numbers, "the docs leave out what the help text explains")
    if not many_errors and _low(row, "first_try_success_rate", LOW_FIRST_TRY):
        numbers = _rates("first-try success", _metric(row, "first_try_success_rate"))
        yield _said(row, numbers, "the docs or the CLI are confusing")
    if _low(row, "step_efficiency", LOW_STEP_EFFICIENCY):
        yield _said(row, _rates("step efficiency", _metric(row, "step_efficiency")), "poor planning or redundant calls")
    commands = _metric(row, "command_count")
    more = commands.base and commands.head and commands.head >= commands.base * limits.commands_ratio
    if more and _metric(row, "completed").head == 1 and not many_errors:
        yield _said(row, _amounts("commands", commands), "the docs describe the commands, but not the workflow")


def _retries(row: Row, trials: Sequence[TrialResult], limits: Diagnosis) -> Iterator[Saying]:
    """Yield the subcommand that head's trials repeated most, if the retry rate is high and worse than on base."""
    retries: Counter[str] = Counter()
    for trial in trials:
        retries.update({name: counts.retries for name, counts in trial.subcommands.items()})
    if _high(row, "retry_rate", limits.retry_rate) and retries and max(retries.values()):
        yield Saying(
            rows=(row,),
            numbers=_rates("retry rate", _metric(row, "retry_rate")),
            says="one subcommand is retried, and its error message does not show how to correct the call",
            about=retries.most_common(1)[0][0],
        )


def _high(row: Row, name: str, least: float, margin: float = _RATE_MARGIN) -> bool:
    """Return True if head's value is at least `least`, and exceeds base's or the row may have regressed."""
    change = _metric(row, name)
    if (change.head or 0) < least:
        return False
    exceeds = change.base is not None and change.head is not None and change.head >= change.base + margin
    return exceeds or row.state in ("regressed", "unconfirmed")


def _low(row: Row, name: str, threshold: float) -> bool:
    """Return True if head's value is below the threshold, and below base's or the row may have regressed."""
    change = _metric(row, name)
    if change.head is None or change.head >= threshold:
        return False
    is_less = change.base is not None and change.head <= change.base - _RATE_MARGIN
    return is_less or row.state in ("regressed", "unconfirmed")


def _metric(row: Row, name: str) -> MetricChange:
    return row.metrics.get(name, _NOT_THERE)


def _rates(name: str, change: MetricChange) -> str:
    return f"{name} {percent(change.head) if change.base is None else to(percent(change.base), percent(change.head))}"


def _amounts(name: str, change: MetricChange) -> str:
    return f"{name} {number(change.head) if change.base is None else to(number(change.base), number(change.head))}"


def _said(row: Row, numbers: str, says: str) -> Saying:
    return Saying(rows=(row,), numbers=numbers, says=says)
