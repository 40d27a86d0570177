"""The filters that know a value of the model: states become signs, failed calls become lines."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import chain, groupby
from typing import Any

from tidegate.model.comparison import BaseCounts, Divergence, FailedCall, HeadCounts, Interval
from tidegate.reports.filters import FILTERS, NONE, arrow, signed, to, together
from tidegate.reports.text import one_line, shortened, visible
from tidegate.reports.view import STATE_SIGNS, VERDICT_SIGNS, MetricCell

_SIGNS = dict(chain[tuple[str, str]](VERDICT_SIGNS.items(), STATE_SIGNS.items()))
_MESSAGE_LINES = 6


def sign(state: str) -> str:
    """The sign of a verdict's or a row's state; its word stands beside it."""
    return _SIGNS[state]


def words(name: str) -> str:
    """A name of the model as words: `not_run` → `not run`."""
    return name.replace("_", " ")


def passed(counts: BaseCounts | HeadCounts) -> str:
    """A side's passes and trials: `3/3`; nothing measured is no number."""
    return f"{counts.passes}/{counts.trials}" if counts.trials else NONE


def interval(ends: Interval) -> str:
    """An interval of a difference of rates: `−56 to −3`, in points."""
    return f"{signed(ends[0] * 100)} to {signed(ends[1] * 100)}"


def console(calls: Sequence[FailedCall]) -> str:
    """Failed calls as a terminal would show them; the tool's own words are indented, so that they can forge no call."""
    return "\n".join(line for call, same in groupby(calls) for line in _call_lines(call, sum(1 for _ in same)))


def _call_lines(call: FailedCall, times: int) -> list[str]:
    message = visible(call.message).strip().split("\n")
    ended = "no exit code" if call.exit_code is None else f"exit {call.exit_code}"
    again = f", {times} times" if times > 1 else ""
    return [
        f"$ {one_line(call.command)}",
        *(f"  {line}" for line in message[:_MESSAGE_LINES] if line),
        f"  [{ended}{again}]",
    ]


def diff(divergence: Divergence) -> str:
    """The step at which the two sides part, as the two lines of a diff."""
    base, head = (shortened(one_line(line), 280) or "(had ended)" for line in (divergence.base, divergence.head))
    return f"- base: {base}\n+ head: {head}"


def moved(metric: MetricCell, unit: str) -> str:
    """Base's and head's number, once if they look the same, with an arrow if the change matters."""
    base, head = FILTERS[unit](metric.base), FILTERS[unit](metric.head)
    numbers = together(to(base, head))
    mark = f" {together(arrow(metric.trend))}" if base != head and metric.trend != "same" else ""
    return f"{numbers}{mark}{' ⚠️' if metric.warns else ''}"


def measured(value: float | None, metric: str) -> str:
    """A metric's number in its own unit."""
    match metric.rsplit("_", 1)[-1]:
        case "rate" | "ratio" | "efficiency" | "completed":
            return str(FILTERS["percent"](value))
        case "s":
            return str(FILTERS["seconds"](value))
        case "usd":
            return NONE if value is None else str(FILTERS["money"](value))
        case _:
            return str(FILTERS["number"](value))


PIECES: dict[str, Callable[..., Any]] = {
    made.__name__: made for made in (console, diff, interval, measured, moved, passed, sign, words)
}
