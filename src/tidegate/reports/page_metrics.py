"""Result → the metrics of the report's overview: over all trials of a side, and what the test over the suite says."""

from __future__ import annotations

from collections.abc import Iterator

from tidegate.model.comparison import MetricChange
from tidegate.model.result import Result
from tidegate.model.trend import TREND_METRICS
from tidegate.model.trial import Side
from tidegate.model.value import Value
from tidegate.reports.filters import probability, signed
from tidegate.reports.model_filters import measured, words

SHARES = ("rate", "ratio")  # what metrics end in that are shares of one, and differ by points


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
    for key in (*TREND_METRICS, "judge_score"):
        base, head = _mean(result, "base", key), _mean(result, "head", key)
        if base is not None or head is not None:
            change = result.suite.metrics.get(key)
            yield SuiteMetric(
                key=key,
                name=words(key).removesuffix(" s").removesuffix(" usd"),
                base=measured(base, key),
                head=measured(head, key),
                tested=_tested(key, change) if change else "",
                warns=change is not None and change.warns,
            )


def _mean(result: Result, side: Side, key: str) -> float | None:
    trials = [trial for trial in result.trials if trial.side == side and trial.decides]
    values = [value for trial in trials if (value := getattr(trial.metrics, key)) is not None]
    return sum(values) / len(values) if values else None


def change_text(key: str, change: MetricChange) -> str:
    """`× 1.21 (1.05 to 1.40)`: head's mean over base's, or the difference in the metric's unit; with its interval."""
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


def _tested(key: str, change: MetricChange) -> str:
    """The change, scenario by scenario, with the q of its test."""
    text = change_text(key, change)
    return text + (f", q = {probability(change.q)}" if text and change.q is not None else "")
