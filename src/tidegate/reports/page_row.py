"""Build the RowView: what the HTML report shows of one row."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

from tidegate.model.comparison import Effect, Evidence, GateCounts, JudgeChange, MetricChange, Row
from tidegate.model.measurement import Metrics, SubcommandCounts, TrialResult
from tidegate.model.suite import RowState
from tidegate.model.trend import RowTrend
from tidegate.model.trial import Side, encoded
from tidegate.model.value import Value
from tidegate.reports.cause_text import cause_line
from tidegate.reports.filters import count, percent, points, probability, to
from tidegate.reports.model_filters import change_line, diff, measured, moved, passed, sign, spread, words
from tidegate.reports.page_metrics import change_text
from tidegate.reports.table_row import COLUMNS, Line, Trend
from tidegate.reports.trend_chart import Series, row_head, row_series
from tidegate.reports.view import CommentView


class Cell(Value):
    """A metric of a row in the overview: its text, and whether it got better or worse."""

    text: str
    trend: Trend
    warns: bool


class MetricLine(Value):
    """A metric of a row on both sides. `tested`: the change with its interval; '' if there are too few trials."""

    key: str
    name: str
    base: str
    head: str
    tested: str
    warns: bool


class Subcommand(Value):
    """Counts of one subcommand of the tool under test, over all trials of each side."""

    name: str
    base: SubcommandCounts
    head: SubcommandCounts


class Mark(Value):
    """A trial as a dot in a plot: its outcome, its metrics as (number, text), and the row's gates in order."""

    side: Side
    index: int
    phase: str
    outcome: str
    decides: str
    reason: str
    metrics: dict[str, tuple[float, str]]
    gates: tuple[bool | None, ...]  # None: this trial does not have the gate


class RowView(Value):
    """One scenario × agent: a line of the overview, and a page."""

    scenario: str
    agent: str
    path: str  # `scenario/agent`, percent-encoded: the path of its page and of its trials' folders
    state: RowState
    badge: str  # the state whose colour is used
    sign: str
    words: str
    reason: str
    task: str
    causes: tuple[str, ...]  # with code between backticks
    base: str
    head: str
    effect: Effect | None
    effect_text: str
    facts: tuple[str, ...]
    cells: tuple[Cell, ...]
    metrics: tuple[MetricLine, ...]
    gates: tuple[GateCounts, ...]
    subcommands: tuple[Subcommand, ...]
    evidence: Evidence | None
    parting: str  # the first divergence, as a diff
    judge: JudgeChange | None
    diagnosis: tuple[str, ...]
    definitions: tuple[str, ...]
    trials: tuple[Mark, ...]
    trends: tuple[Series, ...]


def row_view(line: Line, view: CommentView, trials: Sequence[TrialResult], trend: RowTrend | None) -> RowView:
    """Return the view of one row. `trials`: the row's trials of both sides."""
    row = line.row
    return RowView(
        scenario=row.scenario,
        agent=row.agent,
        path=f"{encoded(row.scenario)}/{encoded(row.agent)}",
        state=row.state,
        badge="not_measured" if line.doubtful else row.state,
        sign="🟡" if line.doubtful else sign(row.state),
        words=words(row.state)
        + (" (fails on both sides)" if line.fails_on_both else "")
        + (", judge: not measured" if row.state == "ok" and line.not_judged else ""),
        reason=row.reason,
        task=row.task,
        causes=tuple(cause_line(cause) for cause in view.causes if row.key in cause.rows),
        base=passed(row.base),
        head=passed(row.head),
        effect=row.effect if row.effect and not row.deterministic else None,
        effect_text=_effect(row),
        facts=tuple(_row_facts(row)),
        cells=tuple(
            Cell(text=moved(cell, unit), trend=cell.trend, warns=cell.warns)
            for cell, unit in ((line.metrics[name], unit) for name, (_, unit) in COLUMNS.items())
        ),
        metrics=tuple(_metric_lines(row)),
        gates=row.gates,
        subcommands=tuple(_subcommands(trials)),
        evidence=row.evidence,
        parting=diff(row.evidence.divergence) if row.evidence and row.evidence.divergence else "",
        judge=row.judge,
        diagnosis=tuple(
            f"{found.numbers}: {found.says}" + (f" (`{found.about}`)" if found.about else "")
            for found in view.diagnosis
            if any(one.key == row.key for one in found.rows)
        ),
        definitions=tuple(change_line(change) for change in view.definitions if change.scenario == row.scenario),
        trials=tuple(_mark(trial, row.gates) for trial in trials),
        trends=row_series(trend, row_head(row)) if trend else (),
    )


def _effect(row: Row) -> str:
    if row.effect is None:
        return ""
    difference = points(row.effect.difference)
    if row.deterministic:
        return difference
    return f"{difference}, {spread(row.effect)}"


def _row_facts(row: Row) -> Iterable[str]:
    if row.source:
        yield f"the case comes from: {row.source}"
    if row.purpose == "capability":
        yield "a capability: measured, never blocks"
    if row.deterministic:
        yield "deterministic"
    if row.effect and row.effect.p is not None:
        limit = f", limit {probability(row.effect.level)}" if row.effect.level is not None else ""
        yield f"p = {probability(row.effect.p)}{limit}"
    for side, counts in (("base", row.base), ("head", row.head)):
        if counts.not_measured:
            yield f"{count(counts.not_measured, 'trial')} not measured on {side}"
    for k, rates in list(row.pass_hat_k.items())[-1:]:
        if int(k) > 1:
            yield f"all of {k} pass: {to(percent(rates.get('base')), percent(rates.get('head')))}"


def _metric_lines(row: Row) -> Iterable[MetricLine]:
    for name, change in row.metrics.items():
        if change.base is not None or change.head is not None:
            yield MetricLine(
                key=name,
                name=words(name).removesuffix(" s").removesuffix(" usd"),
                base=measured(change.base, name),
                head=measured(change.head, name),
                tested=_tested(name, change),
                warns=change.warns,
            )


def _tested(name: str, change: MetricChange) -> str:
    """Return the change with its interval, and the number of trials on base and on head."""
    if change.compared is None:
        return ""
    alike = "" if change.interval else ", all alike"
    return f"{change_text(name, change)}{alike}; n = {change.compared[0]} and {change.compared[1]}"


def _subcommands(trials: Iterable[TrialResult]) -> Iterable[Subcommand]:
    sums: dict[str, dict[Side, Counter[str]]] = {}
    for trial in trials:
        for name, counts in trial.subcommands.items():
            sides = sums.setdefault(name, {"base": Counter(), "head": Counter()})
            sides[trial.side].update(counts.model_dump())
    for name in sorted(sums):
        yield Subcommand(
            name=name, base=SubcommandCounts(**sums[name]["base"]), head=SubcommandCounts(**sums[name]["head"])
        )


def _mark(trial: TrialResult, gates: Sequence[GateCounts]) -> Mark:
    measured_as = {name: getattr(trial.metrics, name) for name in Metrics.model_fields} if trial.decides else {}
    return Mark(
        side=trial.side,
        index=trial.index,
        phase=trial.phase,
        outcome=trial.outcome or "not measured",
        decides=trial.decides or "not measured",
        reason=trial.reason,
        metrics={
            name: (float(value), measured(value, name)) for name, value in measured_as.items() if value is not None
        },
        gates=_gates(trial, gates),
    )


def _gates(trial: TrialResult, gates: Sequence[GateCounts]) -> tuple[bool | None, ...]:
    """Return whether the trial passed each of the row's gates; gates with the same label are matched by order."""
    left = [(gate.label, gate.passed) for gate in trial.gates]
    found: list[bool | None] = []
    for gate in gates:
        here = next((place for place, (label, _) in enumerate(left) if label == gate.gate), None)
        found.append(None if here is None else left.pop(here)[1])
    return tuple(found)
