"""The metrics of the report's overview."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import pytest

from tidegate.model.comparison import MetricChange, SuiteEffect
from tidegate.model.result import Result
from tidegate.reports.page_row import change_text, suite_metrics

Stories = Mapping[str, Callable[[], Result]]


def test_means_of_the_measured_trials_of_each_side(stories: Stories) -> None:
    result = stories["one_regression"]()
    lost = result.trials[-1].model_copy(update={"decides": None, "outcome": None})
    more = result.model_copy(update={"trials": (*result.trials, lost)})
    found = {metric.key: metric for metric in suite_metrics(more)}
    assert (found["error_rate"].base, found["error_rate"].head) == ("0%", "67%")
    assert "cost_usd" not in found


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (
            MetricChange(base=1, head=2, effect=1.21, interval=(1.05, 1.4), q=0.01, scale="ratio"),
            "× 1.21 (1.05 to 1.40), q = 0.01",
        ),
        (MetricChange(base=0.1, head=0.2, effect=0.1, interval=(-0.02, 0.22)), "+10 points (−2 to +22)"),
        (MetricChange(base=0.9, head=1.0, effect=1.0), "+100 points"),
        (MetricChange(base=1, head=None), ""),
    ],
)
def test_what_the_test_says_has_its_scale(stories: Stories, change: MetricChange, said: str) -> None:
    result = stories["one_regression"]()
    suite = SuiteEffect(metrics={"error_rate": change})
    found = {metric.key: metric for metric in suite_metrics(result.model_copy(update={"suite": suite}))}
    assert found["error_rate"].tested == said
    assert found["command_count"].tested == ""


@pytest.mark.parametrize(
    ("key", "change", "said"),
    [
        ("help_count", MetricChange(base=0, head=0.5, effect=0.5, interval=(-0.1, 1.1)), "+0.5 (−0.1 to +1.1)"),
        ("judge_score", MetricChange(base=0.9, head=0.6, effect=-0.3), "−0.30"),
        ("iteration_ratio", MetricChange(base=0.9, head=0.6, effect=-0.3), "−30 points"),
    ],
)
def test_a_difference_has_the_metric_s_own_unit(key: str, change: MetricChange, said: str) -> None:
    assert change_text(key, change) == said
