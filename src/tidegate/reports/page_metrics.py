"""Result → the metrics of the report's overview: over all trials of a side, and what the test over the suite says."""

from __future__ import annotations

from collections.abc import Iterator

from tidegate.model.comparison import MetricChange
from tidegate.model.result import Result
from tidegate.model.trend import TREND_METRICS
from tidegate.model.trial import Side
from tidegate.model.value import Value
from tidegate.reports.filters import probability, signed
from tidegate.reports.pieces import measured, words


class SuiteMetric(Value):
    """A metric over the suite: the mean of each side's trials, and the sentence of the test, if there was one."""

    key: str
    name: str
    base: str
    head: str
    tested: str
    warns: bool


def suite_metrics(result: Result) -> Iterator[SuiteMetric]:
    """Those that any measured trial has."""
    for key in TREND_METRICS:
        base, head = _mean(result, "base", key), _mean(result, "head", key)
        if base is not None or head is not None:
            change = result.suite.metrics.get(key)
            yield SuiteMetric(
                key=key,
                name=words(key).removesuffix(" s").removesuffix(" usd"),
                base=measured(base, key),
                head=measured(head, key),
                tested=_tested(change) if change else "",
                warns=change is not None and change.warns,
            )


def _mean(result: Result, side: Side, key: str) -> float | None:
    trials = [trial for trial in result.trials if trial.side == side and trial.decides]
    values = [value for trial in trials if (value := getattr(trial.metrics, key)) is not None]
    return sum(values) / len(values) if values else None


def _tested(change: MetricChange) -> str:
    """`× 1.21 (1.05 to 1.40), q = 0.01`: head's means over base's, or the difference; scenario by scenario."""
    if change.effect is None:
        return ""
    if change.scale == "ratio":
        amount, ends = f"× {change.effect:.2f}", [f"{end:.2f}" for end in change.interval or ()]
    elif abs(change.effect) <= 1:
        amount, ends = signed(change.effect * 100) + " points", [signed(end * 100) for end in change.interval or ()]
    else:
        amount, ends = signed(change.effect, 1), [signed(end, 1) for end in change.interval or ()]
    spread = f" ({' to '.join(ends)})" if ends else ""
    return amount + spread + (f", q = {probability(change.q)}" if change.q is not None else "")
