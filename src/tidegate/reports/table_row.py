"""A line of the table of all rows: the row's metrics, and which changes are marked."""

from __future__ import annotations

from typing import Literal

from tidegate.decide.comparison.whole_suite import cannot_guard
from tidegate.model.comparison import MetricChange, Row
from tidegate.model.measurement import RULES
from tidegate.model.value import Value

Trend = Literal["better", "worse", "same"]

COLUMNS = {
    "error_rate": ("error rate", "percent"),
    "first_try_success_rate": ("first try", "percent"),
    "command_count": ("commands", "number"),
    "duration_s": ("time", "seconds"),
}  # metrics of the table, in the comment and on the page: title and filter


class MetricCell(Value):
    """One metric of a row in the table."""

    base: float | None = None
    head: float | None = None
    trend: Trend = "same"
    warns: bool = False


class TableLine(Value):
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


def table_line(row: Row) -> TableLine:
    """Return the table's line for a row."""
    return TableLine(
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
