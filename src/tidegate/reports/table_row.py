"""A row of the comparison as a line of the table of all rows: its metrics, and which of their changes matter."""

from __future__ import annotations

from typing import Literal

from tidegate.comparison.weak_rows import cannot_guard
from tidegate.model.comparison import MetricChange, Row
from tidegate.model.value import Value

Trend = Literal["better", "worse", "same"]

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


def table_line(row: Row) -> Line:
    """The row with the metrics of the table's columns."""
    return Line(
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
