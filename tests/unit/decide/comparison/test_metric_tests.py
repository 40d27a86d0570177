"""Metrics over the suite: which warn, and which do not."""

from __future__ import annotations

from typing import Any

import pytest

from tests.make import trial_result
from tidegate.decide.comparison.metric_tests import RowTrials, compared_metrics, is_worse
from tidegate.model.comparison import MetricChange
from tidegate.model.measurement import Metrics, PastTrial, TrialResult
from tidegate.model.trial_spec import Side


def trial(side: Side, **metrics: Any) -> TrialResult:
    return trial_result(side=side, metrics=Metrics(**metrics))


def rows(name: str, base: list[float | None], head: list[float | None], count: int = 8) -> list[RowTrials]:
    one = RowTrials((), [trial("base", **{name: x}) for x in base], [trial("head", **{name: x}) for x in head])
    return [one] * count


def test_a_clear_change_for_the_worse_warns_with_its_ratio_and_interval() -> None:
    change = compared_metrics(rows("tokens_in", [100, 110, 120], [130, 140, 150]))["tokens_in"]
    assert change.warns
    assert change.scale == "ratio"
    assert change.effect == pytest.approx(1.273, abs=3e-3)
    assert change.effect is not None
    assert change.interval is not None
    assert 1.15 < change.interval[0] < change.effect < change.interval[1]
    assert change.q is not None
    assert change.q < 0.001


def test_a_change_that_does_not_matter_is_no_warning_though_the_test_finds_it() -> None:
    change = compared_metrics(rows("tokens_in", [100, 101, 102], [105, 106, 107]))["tokens_in"]
    assert (change.q or 1) < 0.05
    assert not change.warns


def test_a_large_change_that_may_be_chance_is_no_warning() -> None:
    assert not compared_metrics(rows("tokens_in", [100, 300], [500, 90], count=2))["tokens_in"].warns


@pytest.mark.parametrize(
    ("name", "base", "head", "warns"),
    [
        ("error_rate", [0.0, 0.1, 0.1], [0.2, 0.3, 0.4], True),
        ("error_rate", [0.2, 0.3, 0.4], [0.0, 0.1, 0.1], False),
        ("first_try_success_rate", [0.9, 1.0, 0.8], [0.5, 0.6, 0.4], True),
        ("first_try_success_rate", [0.5, 0.6, 0.4], [0.9, 1.0, 0.8], False),
        ("help_count", [0, 0, 1], [2, 1, 2], True),
        ("command_count", [0, 1, 0], [4, 5, 6], True),
    ],
)
def test_each_metric_has_its_own_worse_direction(
    name: str, base: list[float | None], head: list[float | None], warns: bool
) -> None:
    assert compared_metrics(rows(name, base, head))[name].warns == warns


def test_a_metric_that_a_side_does_not_have_is_not_tested_and_none_is_left_out() -> None:
    assert "error_rate" not in compared_metrics(rows("error_rate", [None, None], [0.5]))
    assert compared_metrics(rows("error_rate", [None, 0.5], [0.5, None]))["error_rate"].effect == 0
    assert "cost_usd" not in compared_metrics(rows("cost_usd", [0.0], [0.0]))


def test_time_is_compared_with_concurrent_trials_alone() -> None:
    past = PastTrial(scenario="s", agent="a", decides="pass", at=0, sha="", metrics=Metrics(duration_s=1, tokens_in=9))
    head = trial("head", duration_s=9, tokens_in=9)
    found = compared_metrics([RowTrials([past] * 8, [], [head] * 3)])
    assert "duration_s" not in found
    assert "tokens_in" in found


def test_more_metrics_make_each_of_them_less_surprising() -> None:
    one = rows("error_rate", [0.0, 0.1], [0.1, 0.2], count=3)
    alone = compared_metrics([row._replace(base=row.base, head=row.head) for row in one])["error_rate"].q
    assert alone is not None
    assert 0 < alone < 1


def test_worse_is_a_margin_in_the_metric_s_own_direction() -> None:
    change = compared_metrics(rows("first_try_success_rate", [0.9], [0.7]))["first_try_success_rate"]
    assert is_worse("first_try_success_rate", change, 0.2)
    assert not is_worse("first_try_success_rate", change, 0.21)


# --- one row's own change

OWN = MetricChange(base=1.0, head=2.0, effect=1.0, q=0.01, warns=True)
