"""Trends over base's commits: series for the HTML report, and a chart for the step summary."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from tidegate.model.comparison import Row
from tidegate.model.result import TREND_METRICS, Result, RowTrend
from tidegate.model.value import Value
from tidegate.reports.filters import cell, count, measured, percent, words

SUCCESS = "success"
NAMES = (SUCCESS, *TREND_METRICS)
BARS = "▁▂▃▄▅▆▇█"
FEWEST = 2  # least commits of a trend
MOST_SHOWN = 20  # rows and commits in the step summary
MOST_DRAWN = 10  # commits in the chart; the labels of more would overlap
SHORT_SHA = 7
# Mermaid's default colour has too little contrast on white; this one is readable on white and on black.
_THEME = '%%{init: {"themeVariables": {"xyChart": {"plotColorPalette": "#2f81f7"}}}}%%'

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


def suite_series(result: Result) -> tuple[Series, ...]:
    """Return the series of the suite, as means over its rows.

    A row that was not measured at a commit counts with its latest earlier value.
    """
    latest: dict[int, dict[str, float]] = {}
    at_commit: dict[str, dict[str, float]] = {}
    moments = sorted((p.at, row, place) for row, t in enumerate(result.trends) for place, p in enumerate(t.points))
    for _, row, place in moments:
        trend = result.trends[row]
        latest[row] = latest.get(row, {}) | _numbers(trend, place)
        at_commit[trend.points[place].sha] = {
            name: _mean(known[name] for known in latest.values() if name in known)
            for name in NAMES
            if any(name in known for known in latest.values())
        }
    return tuple(_series(list(at_commit.items()), _suite_head(result)))


def row_head(row: Row) -> Numbers:
    """Return a row's numbers on head."""
    rate = row.head.passes / row.head.trials if row.head.trials else None
    return {SUCCESS: rate, **{name: change.head for name, change in row.metrics.items()}}


def _suite_head(result: Result) -> Numbers:
    heads = [row_head(row) for row in result.rows if row.head.trials]
    found = {name: [value for head in heads if (value := head.get(name)) is not None] for name in NAMES}
    return {name: _mean(values) for name, values in found.items() if values}


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


def _mean(values: Iterable[float]) -> float:
    found = list(values)
    return sum(found) / len(found)


# --- the step summary


def sparkline(values: Sequence[float], low: float, high: float) -> str:
    """Return a sparkline such as `▁▅█`: one bar per value, scaled between `low` and `high`."""
    if high <= low:
        return BARS[-1] * len(values)
    return "".join(BARS[round((value - low) / (high - low) * (len(BARS) - 1))] for value in values)


def render_trends(result: Result) -> str:
    """Return the suite's success over base's commits as a Mermaid chart, and a table of rows; '' without trends."""
    suite = next((series for series in suite_series(result) if series.name == SUCCESS), None)
    if suite is None:
        return ""
    commits = suite.shas[-MOST_DRAWN:]
    lines = [f"### Success over {count(len(commits), 'commit')} of {cell(result.sides.base.ref, 60)}", ""]
    lines += [*_chart(commits, suite.values[-MOST_DRAWN:]), "", *_table(result)]
    return "\n".join(lines) + "\n"


def _chart(shas: Sequence[str], values: Sequence[float]) -> list[str]:
    labels = ", ".join(f'"{_label(sha)}"' for sha in shas)
    numbers = ", ".join(f"{100 * value:.1f}" for value in values)
    axes = (f"    x-axis [{labels}]", '    y-axis "rows that pass, %" 0 --> 100')
    return ["```mermaid", _THEME, "xychart-beta", *axes, f"    line [{numbers}]", "```"]


def _label(sha: str) -> str:
    """Return a commit's short hash, reduced to letters and digits, since stored files are untrusted input."""
    return "".join(letter for letter in sha[:SHORT_SHA] if letter.isalnum() and letter.isascii())


def _table(result: Result) -> list[str]:
    rows = {row.key: row for row in result.rows}
    found = [
        (trend, series[0])
        for trend in result.trends
        if trend.key in rows and (series := row_series(trend, row_head(rows[trend.key])))
    ]
    if not found:
        return []
    lines = ["| scenario × agent | on base | then → now | head |", "|---|---|---|---|"]
    lines += [_line(trend, series) for trend, series in found[:MOST_SHOWN]]
    left_out = len(found) - MOST_SHOWN
    return [*lines, "", f"… and {count(left_out, 'more row')}"] if left_out > 0 else lines


def _line(trend: RowTrend, series: Series) -> str:
    bars = sparkline(series.values[-MOST_SHOWN:], 0.0, 1.0)
    name = f"{cell(trend.scenario, 80)} × {cell(trend.agent, 60)}"
    return f"| {name} | {bars} | {series.texts[-MOST_SHOWN:][0]} → {series.texts[-1]} | {series.head_text} |"
