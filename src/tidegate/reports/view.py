"""Result → CommentView, the one value that the comment's template sees: rows in groups, numbers as numbers."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import Literal

from tidegate.doubts import cannot_guard
from tidegate.model.comparison import DefinitionChange, FailedCall, MetricChange, Row, SuiteEffect
from tidegate.model.judgement import JudgeReport
from tidegate.model.measurement import TrialResult
from tidegate.model.result import Cost, Result, Sides
from tidegate.model.suite import RowState
from tidegate.model.value import Value
from tidegate.model.verdict import Verdict, VerdictState
from tidegate.reports.advice import advice
from tidegate.reports.diagnosis import Diagnosed, diagnose
from tidegate.reports.filters import count

DELTA = 0.10  # verdict.md: a suite is "unchanged" when its whole interval lies inside ±delta

Trend = Literal["better", "worse", "same"]

VERDICT_SIGNS: dict[VerdictState, str] = {"passed": "✅", "failed": "❌", "inconclusive": "⚠️", "not_run": "⏭️"}
STATE_SIGNS: dict[RowState, str] = {
    "regressed": "❌",
    "suspicious": "⚠️",
    "not_measured": "⏭️",
    "removed": "🗑️",
    "not_comparable": "↔️",
    "base_moved": "🌊",
    "flaky": "🎲",
    "improved": "🎉",
    "added": "🆕",
    "ok": "✅",
}  # in the order in which a reader wants them
_NUMBER = re.compile(r"\d+")  # of a process, a line, a second: no difference between two causes
_RANK = {state: rank for rank, state in enumerate(STATE_SIGNS)}
_NOTABLE = frozenset({"flaky", "base_moved", "added", "removed", "not_comparable"})

# The margins above which a metric's change is worth an arrow (verdict.md): differences and ratios.
_LOWER_BY: dict[str, float] = {"error_rate": 0.05}
_HIGHER_BY: dict[str, float] = {"first_try_success_rate": 0.05}
_LOWER_RATIO: dict[str, float] = {"command_count": 1.15, "duration_s": 1.25}
_ONLY_BY_TEST = "duration_s"  # it drifts with the machine
COLUMNS = (*_LOWER_BY, *_HIGHER_BY, *_LOWER_RATIO)


class MetricCell(Value):
    """One metric of a row, as the table shows it."""

    base: float | None = None
    head: float | None = None
    trend: Trend = "same"
    warns: bool = False


class Line(Value):
    """A row of the table of all rows."""

    row: Row
    metrics: dict[str, MetricCell]
    fails_on_both: bool = False  # nothing got worse, and nothing ever worked
    not_judged: str = ""  # why the judge could not judge

    @property
    def doubtful(self) -> bool:
        """It is ok, and not plainly green."""
        return self.row.state == "ok" and (self.fails_on_both or self.not_judged != "")


class SameTrials(Value):
    """Trials of one row that ended alike: in their outcome, its reason, and the number of commands and errors."""

    times: int
    trial: TrialResult  # the first of them


class Finding(Value):
    """What is worth a paragraph: one row, or several that one cause broke, and head's trials that show it."""

    row: Row
    others: tuple[Row, ...] = ()
    unmeasured: tuple[Row, ...] = ()  # which the same cause kept from being measured
    trials: tuple[SameTrials, ...] = ()
    calls: tuple[FailedCall, ...] = ()  # those that failed, but for what the divergence shows already


class Group(Value):
    """Rows of one state, for one and the same reason."""

    state: RowState
    reason: str
    rows: tuple[Row, ...]


class MetricWarning(Value):
    """A metric that got worse by test and by margin: over the suite, or (where only that is known) in one row."""

    row: Row | None
    metric: str
    change: MetricChange


class Saying(Value):
    """What the numbers say of rows with the same ones. `about`: the subcommand or option that it is about; data."""

    rows: tuple[Row, ...]
    numbers: str
    says: str
    about: str | None


class Catch(Value):
    """How probably this run would have caught a drop of that size."""

    drop: float
    probability: float


class CommentView(Value):
    """All that the comment says, in the order in which it says it."""

    instance: str
    version: str
    verdict: Verdict
    notice: str = ""  # what a reader has to know before the verdict means anything
    reasons: tuple[str, ...]  # of the verdict: those that no section below says
    advice: tuple[str, ...]  # what to do about it: our own words, in Markdown
    sides: Sides
    definitions: tuple[DefinitionChange, ...]
    regressed: tuple[Finding, ...]
    suspicious: tuple[Finding, ...]
    not_measured: tuple[Group, ...]
    improved: tuple[Finding, ...]
    notable: tuple[Group, ...]  # flaky, base_moved, added, removed, not_comparable
    table: tuple[Line, ...]
    ok: int
    metric_warnings: tuple[MetricWarning, ...]
    diagnosis: tuple[Saying, ...]
    judged: tuple[Row, ...]  # rows that a model has judged, or could not judge, or judges worse: those first
    judge: JudgeReport | None
    suite: SuiteEffect
    catches: tuple[Catch, ...]  # the largest drop first
    unchanged: bool  # the suite's whole interval lies inside ±delta
    repeats: bool  # every measured row is deterministic, and a failure of it could be confirmed by repeats
    measured: bool  # at least one row on both sides that could have shown a regression
    warnings: tuple[str, ...]
    cost: Cost


def comment_view(result: Result) -> CommentView:
    """Everything that the comment needs, grouped and ranked; no text is made here."""
    rows = sorted(result.rows, key=lambda row: _RANK[row.state])
    measured = [row for row in rows if row.head.trials and row.base.trials and not cannot_guard(row)]
    regressed = _findings(result, "regressed")
    told = {row.key for finding in regressed for row in finding.unmeasured}
    not_measured = _groups(row for row in rows if row.state == "not_measured" and row.key not in told)
    return CommentView(
        instance=result.instance,
        version=result.tidegate_version,
        verdict=result.verdict,
        reasons=tuple(_reasons(result)),
        advice=advice(result),
        sides=result.sides,
        definitions=tuple(sorted(result.definitions, key=lambda change: not change.loosened)),
        regressed=regressed,
        suspicious=_findings(result, "suspicious"),
        not_measured=not_measured,
        improved=_findings(result, "improved"),
        notable=_groups(row for row in rows if row.state in _NOTABLE),
        table=tuple(map(_line, rows)),
        ok=sum(row.state == "ok" for row in rows),
        metric_warnings=(*_suite_warnings(result.suite), *_row_warnings(rows, result.suite)),
        diagnosis=tuple(_said_alike(diagnose(rows, result.trials, result.diagnosis))),
        judged=tuple(sorted((row for row in result.rows if row.judge), key=_judge_rank)),
        judge=result.judge,
        suite=result.suite,
        catches=tuple(
            Catch(drop=-float(drop), probability=probability)
            for drop, probability in sorted(result.suite.detection.items(), key=lambda item: float(item[0]))
        ),
        unchanged=_unchanged(result.suite),
        repeats=_caught_by_repeats(measured, result.suite),
        measured=bool(measured),
        warnings=result.warnings,
        cost=result.cost,
    )


def _judge_rank(row: Row) -> tuple[bool, bool]:
    """Rows whose opinion got worse first, then those that could not be judged."""
    assert row.judge is not None
    return not row.judge.warns, not (row.judge.base.not_judged or row.judge.head.not_judged)


def _reasons(result: Result) -> Iterator[str]:
    """What neither the summary says, nor the row or the changed definition that it is of."""
    told = (*(row.reason for row in result.rows), *(change.detail for change in result.definitions))
    for reason in result.verdict.reasons:
        if reason not in result.verdict.summary and not any(reason.endswith(f": {words}") for words in told):
            yield reason
    if result.verdict.reason == "nothing_passes":
        yield from (
            f"{row.scenario} × {row.agent}: no trial passes the gate “{gate}”"
            for row, gate in _never_passed(result.rows)
        )
    if result.verdict.reason == "infrastructure" and not any(row.state == "not_measured" for row in result.rows):
        lost = Counter(trial.reason for trial in result.trials if trial.not_measured and trial.reason)
        yield from (f"{count(times, 'trial')}: {reason}" for reason, times in lost.most_common(3))


def _never_passed(rows: Iterable[Row]) -> Iterator[tuple[Row, str]]:
    """Rows with the first of their gates that no trial of any side has passed."""
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


def _findings(result: Result, state: RowState) -> tuple[Finding, ...]:
    found: dict[object, list[Row]] = {}
    for row in result.rows:
        if row.state == state:
            found.setdefault(_cause(row), []).append(row)
    return tuple(_finding(result, first, others) for first, *others in found.values())


def _finding(result: Result, row: Row, others: Iterable[Row]) -> Finding:
    return Finding(
        row=row,
        others=tuple(others),
        unmeasured=tuple(_kept_from_measuring(row, result.rows)),
        trials=tuple(_alike(trial for trial in result.trials if trial.side == "head" and trial.key == row.key)),
        calls=tuple(_other_calls(row)),
    )


def _alike(trials: Iterable[TrialResult]) -> Iterator[SameTrials]:
    found: dict[object, list[TrialResult]] = {}
    for trial in trials:
        counts = trial.metrics.command_count, trial.metrics.error_count
        found.setdefault((trial.outcome, trial.reason, counts), []).append(trial)
    return (SameTrials(times=len(same), trial=same[0]) for same in found.values())


def _kept_from_measuring(row: Row, rows: Iterable[Row]) -> Iterator[Row]:
    """Rows that could not be measured because of what broke this one: one broken start is told once."""
    message = row.evidence.message if row.evidence and row.kind == "setup" else ""
    for other in rows:
        if message and other.state == "not_measured" and message in other.reason:
            yield other


def _other_calls(row: Row) -> Iterator[FailedCall]:
    """The calls that failed and that the divergence does not show with their answers."""
    found = row.evidence
    if found:
        shown = {call.command for call in found.divergence.head_steps} if found.divergence else set()
        yield from (call for call in found.calls if call.command not in shown)


def _cause(row: Row) -> object:
    """Rows that broke at their start with the same words are one finding; every other row is its own."""
    found = row.evidence
    if row.kind == "setup" and found:
        return (row.state, found.gate, _NUMBER.sub("0", found.message))
    first = found.divergence.head_steps[:1] if found and found.divergence else ()
    if row.state == "regressed" and first and first[0].status == "error" and first[0].message:
        return (row.state, first[0].exit_code, _NUMBER.sub("0", first[0].message))
    return row.key.scenario, row.key.agent


def _groups(rows: Iterable[Row]) -> tuple[Group, ...]:
    found: dict[tuple[RowState, str], list[Row]] = {}
    for row in rows:
        found.setdefault((row.state, row.reason), []).append(row)
    return tuple(Group(state=state, reason=reason, rows=tuple(rows)) for (state, reason), rows in found.items())


def _said_alike(found: Iterable[Diagnosed]) -> Iterator[Saying]:
    groups: dict[tuple[str, str, str | None], list[Row]] = {}
    for one in found:
        groups.setdefault((one.numbers, one.says, one.about), []).append(one.row)
    for (numbers, says, about), rows in groups.items():
        yield Saying(rows=tuple(rows), numbers=numbers, says=says, about=about)


def _line(row: Row) -> Line:
    return Line(
        row=row,
        metrics={name: _metric(row, name) for name in COLUMNS},
        fails_on_both=row.state == "ok" and row.base.passes == row.head.passes == 0,
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
    """Head was shown to differ from base in that direction: this says why. Else its trials do not differ by chance.

    What regressed has nothing better to show: who gives up early needs few commands.
    """
    if row.state == "regressed":
        return trend == "worse"
    return row.deterministic or (row.state, trend) == ("improved", "better")


def _trend(name: str, change: MetricChange) -> Trend:
    if change.base is None or change.head is None or (name == _ONLY_BY_TEST and not change.warns):
        return "same"
    if ratio := _LOWER_RATIO.get(name):
        worse, better = change.head >= change.base * ratio, change.base >= change.head * ratio
    else:
        up = change.head - change.base
        margin = _LOWER_BY.get(name) or _HIGHER_BY[name]
        worse, better = (up >= margin, -up >= margin) if name in _LOWER_BY else (-up >= margin, up >= margin)
    return "same" if worse == better else "worse" if worse else "better"


def _caught_by_repeats(measured: Sequence[Row], suite: SuiteEffect) -> bool:
    """All or nothing: then one sentence says it, and no probability is needed."""
    deterministic = bool(measured) and all(row.deterministic for row in measured)
    return deterministic and all(probability == 1 for probability in suite.detection.values())


def _unchanged(suite: SuiteEffect) -> bool:
    return suite.interval is not None and suite.interval[0] > -DELTA and suite.interval[1] < DELTA
