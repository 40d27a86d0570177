"""The metrics in the report's overview, and the detection power as bars."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from tidegate.model.comparison import MetricChange
from tidegate.model.measurement import DETAILS, Metrics
from tidegate.model.result import TREND_METRICS, Result
from tidegate.model.trial_spec import Side
from tidegate.model.value import Value
from tidegate.reports.filters import measured, percent, probability, signed, words

SHARES = ("rate", "ratio")  # name endings of metrics from 0 to 1, whose differences are in percentage points


class MetricLine(Value):
    """A metric's means on both sides. `tested`: the change, and what is known of its certainty; '' if nothing is."""

    key: str
    name: str
    base: str
    head: str
    tested: str
    warns: bool


def metric_line(key: str, change: MetricChange, tested: str = "") -> MetricLine:
    """Return the line of a metric."""
    name = words(key).removesuffix(" s").removesuffix(" usd")
    base, head = measured(change.base, key), measured(change.head, key)
    return MetricLine(key=key, name=name, base=base, head=head, tested=tested, warns=change.warns)


def suite_metrics(result: Result) -> Iterator[MetricLine]:
    """Yield each metric that at least one measured trial has."""
    base_metrics, head_metrics = _measured(result, "base"), _measured(result, "head")
    for key in (*TREND_METRICS, *DETAILS, "case_score", "judge_score"):
        base, head = _mean(base_metrics, key), _mean(head_metrics, key)
        if base is not None or head is not None:
            change = result.suite.metrics.get(key) or MetricChange(base=None, head=None)
            means = {} if change.base is not None and change.head is not None else {"base": base, "head": head}
            yield metric_line(key, change.model_copy(update=means), _tested(key, change))


def _measured(result: Result, side: Side) -> list[Metrics]:
    return [trial.metrics for trial in result.trials if trial.side == side and trial.decides]


def _mean(metrics: Sequence[Metrics], key: str) -> float | None:
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


def _tested(key: str, change: MetricChange) -> str:
    """Return the change over the scenarios, with the q of its test."""
    text = change_text(key, change)
    return text + (f", q = {probability(change.q)}" if text and change.q is not None else "")


class PowerBar(Value):
    """One size of a drop, with the share of runs that find it as a number and as text."""

    drop: str
    share: float
    text: str


def power_bars(detection: Mapping[str, float]) -> tuple[PowerBar, ...]:
    """Return one bar per size of the drop, the smallest first."""
    found = sorted((-float(drop), share) for drop, share in detection.items())
    return tuple(PowerBar(drop=_drop(drop), share=share, text=percent(share)) for drop, share in found)


def _drop(drop: float) -> str:
    return "to 0" if drop >= 1 else f"−{100 * drop:.0f}"
