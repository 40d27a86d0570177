"""Metrics over the suite: which warn, and which do not."""

from __future__ import annotations

from math import exp
from random import Random
from typing import Any

import pytest

from tests.make import sure, trial_result
from tidegate.decide.comparison.metric_tests import RowTrials, compared_metrics, is_worse
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
    low, high = sure(change.interval)
    assert 1.15 < low < sure(change.effect) < high
    assert sure(change.q) < 0.001


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
    alone = compared_metrics(rows("error_rate", [0.0, 0.1], [0.1, 0.2], count=3))["error_rate"].q
    assert 0 < sure(alone) < 1


def test_worse_is_a_margin_in_the_metric_s_own_direction() -> None:
    change = compared_metrics(rows("first_try_success_rate", [0.9], [0.7]))["first_try_success_rate"]
    assert is_worse("first_try_success_rate", change, 0.2)
    assert not is_worse("first_try_success_rate", change, 0.21)


# --- tokens that vary from run to run: the provider's state of a day is no change of the pull request


ROWS, PRS = 10, 100


def metrics(chance: Random, level: float) -> Metrics:
    """Tokens and cost of one trial, which vary by 30 % from trial to trial, and rates, which vary with them."""
    tokens = 1000 * exp(level + chance.gauss(0, 0.3))
    errors = min(1.0, max(0.0, 0.3 + level / 4 + chance.gauss(0, 0.1)))
    return Metrics(
        tokens_in=round(tokens),
        tokens_out=round(tokens / 5),
        cost_usd=tokens / 1e6,
        error_rate=errors,
        first_try_success_rate=1 - errors,
        help_count=max(0, round(1 + 2.5 * level + chance.gauss(0, 0.5))),
    )


def pull_request(chance: Random, runs: int, spread: float, worse: float = 0.0) -> list[RowTrials]:
    """A history of several runs with three trials per row, and head's three trials of a further run."""
    days = [chance.gauss(0, spread) for _ in range(runs)]
    today = chance.gauss(0, spread) + worse
    rows = []
    for number in range(ROWS):
        past = [
            PastTrial(
                scenario=str(number),
                agent="a",
                decides="pass",
                at=day * 86_400.0 + (3 * number + trial) / 1000,
                sha="",
                metrics=metrics(chance, level),
            )
            for day, level in enumerate(days)
            for trial in range(3)
        ]
        head: list[TrialResult] = [trial_result(side="head", metrics=metrics(chance, today)) for _ in range(3)]
        rows.append(RowTrials(past, [], head))
    return rows


def warned(runs: int, spread: float, worse: float = 0.0) -> float:
    chance = Random(f"{runs}/{spread}/{worse}")
    found = [compared_metrics(pull_request(chance, runs, spread, worse)) for _ in range(PRS)]
    return sum(any(change.warns for change in one.values()) for one in found) / PRS


@pytest.mark.parametrize("spread", [0.1, 0.2])
@pytest.mark.parametrize("runs", [1, 3, 4])
def test_clean_pull_requests_hardly_ever_warn(runs: int, spread: float) -> None:
    assert warned(runs, spread) <= 0.03 + 0.035  # the goal, and two standard errors


def test_what_goes_beyond_the_variation_from_run_to_run_warns() -> None:
    assert warned(8, 0.1, worse=0.5) > 0.85
    assert warned(1, 0.0, worse=0.7) > 0.9


def test_what_head_alone_lacks_is_counted_and_as_bad_as_it_can_be() -> None:
    judged = compared_metrics(rows("judge_score", [0.9] * 4, [0.9, 0.9, None, None]))["judge_score"]
    assert (judged.missing, judged.effect) == (16, 0.0)
    assert sure(judged.worst) == pytest.approx(-0.45)
    all_of_it = compared_metrics(rows("judge_score", [0.9, 0.9], [None, None]))["judge_score"]
    assert all_of_it.missing == 16
    assert sure(all_of_it.worst) == pytest.approx(-0.9)
    cost = compared_metrics(rows("cost_usd", [1.0, 1.0], [1.0, None]))["cost_usd"]
    assert (cost.missing, cost.worst) == (8, None)


def test_what_base_lacks_as_often_or_failing_trials_lack_is_not_missing() -> None:
    assert compared_metrics(rows("judge_score", [0.9, None], [0.9, None]))["judge_score"].missing == 0
    one = RowTrials(
        (), [trial("base", judge_score=0.9)] * 2, [trial("head", judge_score=0.9), trial_result(outcome="fail")]
    )
    assert compared_metrics([one])["judge_score"].missing == 0
