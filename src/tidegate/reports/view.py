"""Build the CommentView, the value that the comment's template gets. It holds numbers and rows, no rendered text."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Literal

from tidegate.decide.comparison.whole_suite import cannot_guard
from tidegate.model.cause import Cause, Fix
from tidegate.model.comparison import DefinitionChange, MetricChange, Row, SuiteEffect
from tidegate.model.judge_result import JudgeReport
from tidegate.model.result import Cost, Result, Sides, Verdict, VerdictState
from tidegate.model.revision import Links
from tidegate.model.suite import RULES, RowState
from tidegate.model.surface import Interface
from tidegate.model.value import Value
from tidegate.reports.diagnosis import Saying, diagnose
from tidegate.reports.filters import count, interval, percent, points, to
from tidegate.reports.links import Pages
from tidegate.reports.next_steps import acceptance, advice
from tidegate.reports.side_findings import Finding, Group, findings, groups

Trend = Literal["better", "worse", "same"]

COLUMNS = {
    "error_rate": ("error rate", "percent"),
    "first_try_success_rate": ("first try", "percent"),
    "command_count": ("commands", "number"),
    "duration_s": ("time", "seconds"),
}  # metrics of the table, in the comment and on the page: title and filter

MOST_CAUSES = 3  # shown in the comment
NAMED_DROP = 0.30  # the smallest drop that the sentence on the detection power names

VERDICT_SIGNS: dict[VerdictState, str] = {"passed": "✅", "failed": "❌", "inconclusive": "⚠️", "not_run": "⏭️"}
STATE_SIGNS: dict[RowState, str] = {
    "regressed": "❌",
    "unconfirmed": "⚠️",
    "not_measured": "⏭️",
    "removed": "🗑️",
    "not_comparable": "↔️",
    "baseline_changed": "🌊",
    "flaky": "🎲",
    "improved": "🎉",
    "added": "🆕",
    "unchanged": "🔁",
    "ok": "✅",
}  # in the order of the report: the most important states first
_RANK = {state: rank for rank, state in enumerate(STATE_SIGNS)}
_NOTABLE = frozenset({"baseline_changed", "added", "removed", "not_comparable"})


class MetricCell(Value):
    """One metric of a row in the table."""

    base: float | None = None
    head: float | None = None
    trend: Trend = "same"
    warns: bool = False


class TableRow(Value):
    """One line of the table of all rows."""

    row: Row
    metrics: dict[str, MetricCell]
    fails_on_both: bool = False  # no trial passes on either side
    not_judged: str = ""  # why the judge could not judge

    @property
    def adds_nothing(self) -> bool:
        """True if the line shows no more than the row's state and how many of its trials pass."""
        lost = self.row.base.not_measured + self.row.head.not_measured
        return not lost and not self.not_judged and all(cell.trend == "same" for cell in self.metrics.values())

    @property
    def doubtful(self) -> bool:
        """True if the row is `ok` but weak evidence: it fails on both sides, or the judge could not judge it."""
        return self.row.state == "ok" and (self.fails_on_both or self.not_judged != "")


class MetricWarning(Value):
    """A metric that got worse, by test and by margin: over the suite, or in one row if the suite's was not compared."""

    row: Row | None
    metric: str
    change: MetricChange


class ReplayView(Value):
    """Rows for which no agent was run, of how many in all, and the rows whose sessions differ.

    `checked` rows replay alike, and were chosen for a trial with an agent. `with_agents`: agents were run for the rows
    that differ.
    """

    unchanged: int
    total: int
    sessions: int
    unseen: float  # the largest estimate among the unchanged rows
    differing: tuple[Row, ...]
    checked: int
    with_agents: bool


class CommentView(Value):
    """Everything that the comment shows, in its order."""

    instance: str
    version: str
    verdict: Verdict
    notice: str = ""  # shown directly below the verdict
    pages: Pages | None = None  # of a job on GitHub
    reasons: tuple[str, ...]  # reasons for the verdict that no section below gives
    advice: tuple[str, ...]  # next steps, as Markdown without data
    acceptance: str  # the part of `advice` on how a maintainer accepts what got worse; '' if nothing can be accepted
    sides: Sides
    links: Links
    causes: tuple[Cause, ...]  # of regressed rows first, then of others
    fix: Fix | None = None  # an edit of the docs that was tried
    for_agent: str = ""  # a text for the author's coding agent
    definitions: tuple[DefinitionChange, ...]
    interfaces: tuple[Interface, ...]  # those that differ or were not compared
    regressed: tuple[Finding, ...]
    unconfirmed: tuple[Finding, ...]
    not_measured: tuple[Group, ...]
    uncertain: tuple[Row, ...]  # unconfirmed and flaky rows
    improved: tuple[Finding, ...]
    notable: tuple[Group, ...]  # baseline_changed, added, removed, not_comparable
    replayed: ReplayView | None  # None if no session was replayed
    table: tuple[TableRow, ...]
    ok: int
    metric_warnings: tuple[MetricWarning, ...]
    diagnosis: tuple[Saying, ...]
    judged: tuple[Row, ...]  # rows with a judge: those rated lower first, then those that it could not judge
    judge: JudgeReport | None
    suite: SuiteEffect
    catches: tuple[tuple[float, float], ...]  # drops, the largest first, and the chance to detect each
    suite_text: str  # how much of the suite passes on both sides; '' if the rows show it
    repeats: bool  # every measured row is deterministic, and repeats could have confirmed its failure
    measured: bool  # at least one row was measured on both sides and could have shown a regression
    warnings: tuple[str, ...]
    cost: Cost
    confinement: tuple[str, ...]

    @property
    def explained(self) -> bool:
        """True if only regressions block, and each regressed row has a cause that points to a line to fix."""
        regressed = {line.row.key for line in self.table if line.row.state == "regressed"}
        fixes = (cause for cause in self.causes[:MOST_CAUSES] if cause.edits or cause.still_named)
        explained = {key for cause in fixes for key in cause.rows}
        return self.verdict.reason == "regression" and len(regressed) > 0 and regressed <= explained

    @property
    def next_steps(self) -> tuple[str, ...]:
        """What the reader should do, apart from what the causes already say."""
        if self.explained:
            return (self.acceptance,) if self.acceptance else ()
        return self.advice


def comment_view(result: Result) -> CommentView:
    """Return everything that the comment needs, grouped and sorted. The template makes the text."""
    rows = sorted(result.rows, key=lambda row: _RANK[row.state])
    measured = [row for row in rows if row.head.trials and row.base.trials and not cannot_guard(row)]
    hints = diagnose(_unexplained(result, rows), result.trials, result.diagnosis, result.agents)
    return CommentView(
        instance=result.instance,
        version=result.tidegate_version,
        verdict=result.verdict,
        reasons=tuple(_reasons(result)),
        advice=advice(result),
        acceptance=acceptance(result),
        sides=result.sides,
        links=result.links,
        causes=tuple(_causes(result)),
        fix=result.fix,
        definitions=result.definitions,
        interfaces=tuple(one for one in result.interfaces if one.changes or one.why or one.blocks),
        **_by_state(result, rows),
        replayed=_replay_view(rows),
        table=tuple(map(table_line, rows)),
        ok=sum(row.state == "ok" for row in rows),
        metric_warnings=(*_suite_warnings(result.suite), *_row_warnings(rows, result.suite)),
        diagnosis=tuple(_said_alike(hints)),
        judged=tuple(sorted((row for row in result.rows if row.judge), key=_judge_rank)),
        judge=result.judge,
        suite=result.suite,
        catches=_catches(result.suite) if measured else (),
        suite_text=suite_text(result.suite, measured),
        repeats=_caught_by_repeats(measured, result.suite),
        measured=bool(measured),
        warnings=result.warnings,
        cost=result.cost,
        confinement=result.confinement,
    )


def _by_state(result: Result, rows: Sequence[Row]) -> dict[str, Any]:
    """Return the rows as the comment groups them, by their states."""
    regressed = findings(result, "regressed")
    return {
        "regressed": regressed,
        "unconfirmed": findings(result, "unconfirmed"),
        "not_measured": groups(row for row in rows if row.state == "not_measured"),
        "uncertain": tuple(row for row in rows if row.state in ("unconfirmed", "flaky")),
        "improved": findings(result, "improved"),
        "notable": groups(row for row in rows if row.state in _NOTABLE),
    }


def _catches(suite: SuiteEffect) -> tuple[tuple[float, float], ...]:
    """Return the probabilities for the larger drops, the largest first; the page has those for all of them."""
    drops = sorted((-float(drop), probability) for drop, probability in suite.detection.items())
    return tuple((drop, found) for drop, found in reversed(drops) if drop >= NAMED_DROP)


def _unexplained(result: Result, rows: Iterable[Row]) -> Iterator[Row]:
    """Yield the rows whose cause is not known: only these need hints from the metrics."""
    explained = {key for cause in result.causes for key in cause.rows}
    return (row for row in rows if row.key not in explained)


def _causes(result: Result) -> list[Cause]:
    """Return the causes, those of the most important states first, then those of the most rows."""
    ranks = {row.key: _RANK[row.state] for row in result.rows}

    def rank(cause: Cause) -> tuple[int, int]:
        return min((ranks.get(key, len(_RANK)) for key in cause.rows), default=0), -len(cause.rows)

    return sorted(result.causes, key=rank)


def _judge_rank(row: Row) -> tuple[bool, bool]:
    """Return a sort key: rows rated lower by the judge first, then rows that it could not judge."""
    assert row.judge is not None
    return not row.judge.warns, not (row.judge.base.not_judged or row.judge.head.not_judged)


def _reasons(result: Result) -> Iterator[str]:
    """Yield the reasons that neither the summary nor a row nor a definition change already gives."""
    yield from result.verdict.own_reasons
    if result.verdict.reason == "nothing_passes":
        yield from (f"{row.key}: no trial passes the gate “{gate}”" for row, gate in _never_passed(result.rows))
    if result.verdict.reason == "infrastructure" and not any(row.state == "not_measured" for row in result.rows):
        lost = Counter(trial.reason for trial in result.trials if trial.not_measured and trial.reason)
        yield from (f"{count(times, 'trial')}: {reason}" for reason, times in lost.most_common(3))


def _never_passed(rows: Iterable[Row]) -> Iterator[tuple[Row, str]]:
    """Yield rows with the first of their gates that no trial passes on either side."""
    for row in rows:
        gate = next((gate.gate for gate in row.gates if gate.base[0] + gate.head[0] == 0), None)
        if gate is not None:
            yield row, gate


def _suite_warnings(suite: SuiteEffect) -> Iterator[MetricWarning]:
    for name, change in suite.metrics.items():
        if change.warns:
            yield MetricWarning(row=None, metric=name, change=change)


def _row_warnings(rows: Iterable[Row], suite: SuiteEffect) -> Iterator[MetricWarning]:
    for row in rows:
        for name, change in row.metrics.items():
            if change.warns and name not in suite.metrics:
                yield MetricWarning(row=row, metric=name, change=change)


def _said_alike(found: Iterable[Saying]) -> Iterator[Saying]:
    groups: dict[tuple[str, str, str | None], list[Row]] = {}
    for one in found:
        groups.setdefault((one.numbers, one.says, one.about), []).extend(one.rows)
    for (numbers, says, about), rows in groups.items():
        yield Saying(rows=tuple(rows), numbers=numbers, says=says, about=about)


def _caught_by_repeats(measured: Sequence[Row], suite: SuiteEffect) -> bool:
    """Return True if every drop would have been detected for certain, so that one sentence replaces the table."""
    deterministic = bool(measured) and all(row.deterministic for row in measured)
    return deterministic and all(probability == 1 for probability in suite.detection.values())


def suite_text(suite: SuiteEffect, measured: Sequence[Row]) -> str:
    """Return the sentence; '' if there is nothing to report, or if it repeats what the rows show.

    An interval is for rates that chance can move: deterministic rows have none.
    """
    if suite.difference is None:
        return ""
    chance = not all(row.deterministic for row in measured)
    if not suite.difference and not chance:
        return ""
    ends = suite.interval if chance else None
    spread = f"90% interval {interval(ends)}" if ends and ends[0] != ends[1] else ""
    if not suite.difference:
        return f"Success over the suite: {percent(suite.head_rate)} on both sides{spread and f' ({spread} points)'}."
    rates = to(percent(suite.base_rate), percent(suite.head_rate))
    return f"Success over the suite: {rates} ({', '.join(filter(None, (points(suite.difference), spread)))})."


def _replay_view(rows: Sequence[Row]) -> ReplayView | None:
    """Return the facts about replays for the comment; None if nothing was replayed."""
    replays = [(row, row.replay) for row in rows if row.replay is not None]
    if not replays:
        return None
    differing = sorted(
        ((row, found) for row, found in replays if found.difference is not None), key=lambda one: -one[1].severity
    )
    unchanged = [found for row, found in replays if row.state == "unchanged"]
    return ReplayView(
        unchanged=len(unchanged),
        total=sum(row.state != "removed" for row in rows),
        sessions=sum(found.same for found in unchanged),
        unseen=max((found.unseen for found in unchanged), default=0.0),
        differing=tuple(row for row, _ in differing),
        checked=sum(found.spot for _, found in replays),
        with_agents=any(row.head.trials for row, _ in differing),
    )


def table_line(row: Row) -> TableRow:
    """Return the table's line for a row."""
    return TableRow(
        row=row,
        metrics={name: _metric(row, name) for name in COLUMNS},
        fails_on_both=cannot_guard(row),
        not_judged=row.judge.not_measured if row.judge else "",
    )


def _metric(row: Row, name: str) -> MetricCell:
    change = row.metrics.get(name)
    if change is None:
        return MetricCell()
    trend = _trend(name, change)
    shown = trend if change.warns or _is_no_chance(row, trend) else "same"
    return MetricCell(base=change.base, head=change.head, trend=shown, warns=change.warns)


def _is_no_chance(row: Row, trend: Trend) -> bool:
    """Return True if the change is more than noise: the row changed in the same direction, or it is deterministic.

    A regressed row shows no improvements: an agent that gives up early needs few commands.
    """
    if row.state == "regressed":
        return trend == "worse"
    return row.deterministic or (row.state, trend) == ("improved", "better")


def _trend(name: str, change: MetricChange) -> Trend:
    """Return the direction of a change that reaches the metric's margin.

    A metric that depends on the machine's load counts only if the test finds the change.
    """
    rule = RULES[name]
    if change.base is None or change.head is None or (rule.concurrent and not change.warns):
        return "same"
    good, bad = (change.head, change.base) if rule.lower_is_worse else (change.base, change.head)
    if rule.ratio:
        worse, better = bad >= good * (1 + rule.margin), good >= bad * (1 + rule.margin)
    else:
        worse, better = bad - good >= rule.margin, good - bad >= rule.margin
    return "same" if worse == better else "worse" if worse else "better"
