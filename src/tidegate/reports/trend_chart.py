"""Trends over base's commits: series for the HTML report."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from tidegate.model.comparison import Row
from tidegate.model.trend import TREND_METRICS, RowTrend
from tidegate.model.value import Value
from tidegate.reports.filters import measured, percent, words

SUCCESS = "success"
NAMES = (SUCCESS, *TREND_METRICS)
FEWEST = 2  # least commits of a trend

Numbers = Mapping[str, float | None]


class Series(Value):
    """One number over base's commits, oldest first, and its value on this head."""

    name: str
    title: str
    shas: tuple[str, ...]
    values: tuple[float, ...]
    texts: tuple[str, ...]
    head: float | None
    head_text: str


def row_series(trend: RowTrend, head: Numbers) -> tuple[Series, ...]:
    """Return the series of one row: success, and each metric measured at two or more commits."""
    points = [(point.sha, _numbers(trend, place)) for place, point in enumerate(trend.points)]
    return tuple(_series(points, head))


def row_head(row: Row) -> Numbers:
    """Return a row's numbers on head."""
    rate = row.head.passes / row.head.trials if row.head.trials else None
    return {SUCCESS: rate, **{name: change.head for name, change in row.metrics.items()}}


def _numbers(trend: RowTrend, place: int) -> dict[str, float]:
    point = trend.points[place]
    return {SUCCESS: point.passes / point.trials, **{name: kept.mean for name, kept in point.metrics.items()}}


def _series(points: Sequence[tuple[str, Mapping[str, float]]], head: Numbers) -> Iterator[Series]:
    for name in NAMES:
        known = [(sha, numbers[name]) for sha, numbers in points if name in numbers]
        if len(known) >= FEWEST:
            yield Series(
                name=name,
                title=words(name).removesuffix(" s").removesuffix(" usd"),
                shas=tuple(sha for sha, _ in known),
                values=tuple(value for _, value in known),
                texts=tuple(_text(name, value) for _, value in known),
                head=head.get(name),
                head_text=_text(name, head.get(name)),
            )


def _text(name: str, value: float | None) -> str:
    return percent(value) if name == SUCCESS else measured(value, name)
