"""What the HTML report shows of one row, and of metrics."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from tidegate.decide.causes.divergence import closest
from tidegate.model.comparison import Effect, Evidence, GateCounts, JudgeChange, MetricChange, Row
from tidegate.model.measurement import DETAILS, Metrics, TrialResult
from tidegate.model.plan import RowKey
from tidegate.model.result import Result
from tidegate.model.suite import RowState
from tidegate.model.trial_spec import Side, encoded
from tidegate.model.value import Value
from tidegate.reports.filters import count, measured, points, probability, signed, unfenced, words
from tidegate.reports.for_agent import for_agent
from tidegate.reports.links import recipe
from tidegate.reports.model_filters import change_line, diff, moved, passed, sign, spread
from tidegate.reports.view import COLUMNS, CommentView, MetricCell, TableRow, Trend
from tidegate.text.noise import noisy_words

MAIN_METRICS = (
    "error_rate",
    "first_try_success_rate",
    "command_count",
    "duration_s",
    "tokens_in",
    "tokens_out",
    "cost_usd",
)
SHARES = ("rate", "ratio")  # name endings of metrics from 0 to 1, whose differences are in percentage points


class Cell(Value):
    """A metric of a row in the overview: its text, head's number for sorting, and whether it got better or worse."""

    text: str
    value: float | None
    trend: Trend
    warns: bool


class MetricLine(Value):
    """A metric's means on both sides. `tested`: the change, and what is known of its certainty; '' if nothing is."""

    key: str
    name: str
    base: str
    head: str
    tested: str
    warns: bool


class Mark(Value):
    """A trial in the list of a row's trials: its outcome, its metrics as text, and the row's gates in order."""

    side: Side
    index: int
    phase: str
    outcome: str
    decides: str
    reason: str
    metrics: dict[str, str]
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
    causes: tuple[int, ...]  # positions in the page's causes
    base: str
    head: str
    effect: Effect | None
    effect_text: str
    facts: tuple[str, ...]
    cells: tuple[Cell, ...]
    metrics: tuple[MetricLine, ...]
    gates: tuple[GateCounts, ...]
    evidence: Evidence | None
    parting: str  # the first divergence, as a diff
    judge: JudgeChange | None
    diagnosis: tuple[str, ...]
    definitions: tuple[str, ...]
    recipe: str  # lines for a shell that reproduce the row; '' if unknown
    for_agent: str  # a text for a coding agent that fixes it; '' unless it regressed or may have
    pair: tuple[int, int]  # the base and the head trial to show side by side
    trials: tuple[Mark, ...]


def row_path(key: RowKey) -> str:
    """Return `scenario/agent`, percent-encoded: the path of the row's page and of its trials' folders."""
    return f"{encoded(key.scenario)}/{encoded(key.agent)}"


def page_columns(view: CommentView) -> dict[str, tuple[str, str]]:
    """Return the metrics of the overview that a row has, with title and unit: the comment's, and the cost."""
    found = {name for line in view.table for name in line.row.metrics if _is_known(line.row.metrics[name])}
    columns = COLUMNS | {"cost_usd": ("cost per trial", "money")}
    return {name: column for name, column in columns.items() if name in found}


def _is_known(change: MetricChange) -> bool:
    return change.base is not None or change.head is not None


class PageOf(NamedTuple):
    """What a row's page takes from the whole: the comment's view, the result, and the overview's metrics."""

    view: CommentView
    result: Result
    columns: dict[str, tuple[str, str]]


def row_view(line: TableRow, page: PageOf, trials: Sequence[TrialResult]) -> RowView:
    """Return the view of one row. `trials`: the row's trials of both sides."""
    row, view = line.row, page.view
    alone = page.result.model_copy(update={"rows": (row,), "trials": tuple(trials)})
    return RowView(
        scenario=row.scenario,
        agent=row.agent,
        path=row_path(row.key),
        state=row.state,
        badge="not_measured" if line.doubtful else row.state,
        sign="🟡" if line.doubtful else sign(row.state),
        words=_words(line),
        reason=row.reason,
        task=unfenced(row.task),
        causes=tuple(place for place, cause in enumerate(view.causes) if row.key in cause.rows),
        base=passed(row.base),
        head=passed(row.head),
        effect=row.effect if row.effect and not row.deterministic else None,
        effect_text=_effect(row),
        facts=tuple(_row_facts(row)),
        cells=tuple(_cell(line, name, unit) for name, (_, unit) in page.columns.items()),
        metrics=tuple(_metric_lines(row)),
        gates=row.gates,
        evidence=row.evidence,
        parting=diff(row.evidence.divergence) if row.evidence and row.evidence.divergence else "",
        judge=row.judge,
        diagnosis=tuple(_hints(row, view)),
        definitions=tuple(change_line(change) for change in view.definitions if change.scenario == row.scenario),
        recipe=recipe(page.result, (row,)),
        for_agent=for_agent(alone),
        pair=_shown_pair(row, trials),
        trials=tuple(mark(trial, row.gates) for trial in trials),
    )


def _words(line: TableRow) -> str:
    row = line.row
    both = " (fails on both sides)" if line.fails_on_both else ""
    return words(row.state) + both + (", judge: not measured" if row.state == "ok" and line.not_judged else "")


def _hints(row: Row, view: CommentView) -> Iterable[str]:
    for found in view.diagnosis:
        if any(one.key == row.key for one in found.rows):
            yield f"{found.numbers}: {found.says}" + (f" (`{found.about}`)" if found.about else "")


def _cell(line: TableRow, name: str, unit: str) -> Cell:
    cell = line.metrics.get(name) or MetricCell(base=_mean(line.row, name, "base"), head=_mean(line.row, name, "head"))
    value = cell.base if cell.head is None else cell.head
    return Cell(text=moved(cell, unit), value=value, trend=cell.trend, warns=cell.warns)


def _mean(row: Row, name: str, side: Side) -> float | None:
    change = row.metrics.get(name)
    return getattr(change, side) if change else None


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


def _metric_lines(row: Row) -> Iterable[MetricLine]:
    return (metric_line(name, one) for name, one in row.metrics.items() if _is_known(one))


def mark(trial: TrialResult, gates: Sequence[GateCounts]) -> Mark:
    measured_as = {name: getattr(trial.metrics, name) for name in Metrics.model_fields} if trial.decides else {}
    return Mark(
        side=trial.side,
        index=trial.index,
        phase=trial.phase,
        outcome=trial.outcome or "not measured",
        decides=trial.decides or "not measured",
        reason=trial.reason,
        metrics={name: measured(value, name) for name, value in measured_as.items() if value is not None},
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


def _shown_pair(row: Row, trials: Sequence[TrialResult]) -> tuple[int, int]:
    """Return the base and the head trial that show the row best, by index; 0 for a side without trials.

    If the row has evidence, they are the two trials that its divergence was found in.
    """
    base, head = ([trial for trial in trials if trial.side == side] for side in ("base", "head"))
    evident = [trial for trial in head if row.evidence and trial.id == row.evidence.trial]
    shows = next(iter((*evident, *(trial for trial in head if trial.decides == "fail"), *head)), None)
    if shows is None:
        return next((trial.index for trial in base), 0), 0
    others = [trial for trial in base if trial.decides not in (None, shows.decides)] or base
    other = closest(shows, others, noisy_words(trials))
    return other.index if other else 0, shows.index


def metric_line(key: str, change: MetricChange, tested: str = "") -> MetricLine:
    """Return the line of a metric."""
    name = words(key).removesuffix(" s").removesuffix(" usd")
    base, head = measured(change.base, key), measured(change.head, key)
    return MetricLine(key=key, name=name, base=base, head=head, tested=tested, warns=change.warns)


def suite_metrics(result: Result) -> Iterator[MetricLine]:
    """Yield each metric that at least one measured trial has."""
    base_metrics, head_metrics = _measured(result, "base"), _measured(result, "head")
    for key in (*MAIN_METRICS, *DETAILS, "case_score", "judge_score"):
        base, head = _mean_of(base_metrics, key), _mean_of(head_metrics, key)
        if base is not None or head is not None:
            change = result.suite.metrics.get(key) or MetricChange(base=None, head=None)
            means = {} if change.base is not None and change.head is not None else {"base": base, "head": head}
            yield metric_line(key, change.model_copy(update=means), _suite_tested(key, change))


def _measured(result: Result, side: Side) -> list[Metrics]:
    return [trial.metrics for trial in result.trials if trial.side == side and trial.decides]


def _mean_of(metrics: Sequence[Metrics], key: str) -> float | None:
    values = [value for one in metrics if (value := getattr(one, key)) is not None]
    return sum(values) / len(values) if values else None


def change_text(key: str, change: MetricChange) -> str:
    """Return a change with its interval: a ratio, as `× 1.21 (1.05 to 1.40)`, or a difference in the metric's unit."""
    if change.effect is None:
        return ""
    if change.scale == "ratio":
        amount, ends = f"× {change.effect:.2f}", [f"{end:.2f}" for end in change.interval or ()]
    elif key.endswith(SHARES):
        amount, ends = signed(change.effect * 100) + " points", [signed(end * 100) for end in change.interval or ()]
    else:
        digits = 2 if key.endswith("score") else 1
        amount, ends = signed(change.effect, digits), [signed(end, digits) for end in change.interval or ()]
    return amount + (f" ({' to '.join(ends)})" if ends else "")


def _suite_tested(key: str, change: MetricChange) -> str:
    """Return the change over the scenarios, with the q of its test."""
    text = change_text(key, change)
    return text + (f", q = {probability(change.q)}" if text and change.q is not None else "")
