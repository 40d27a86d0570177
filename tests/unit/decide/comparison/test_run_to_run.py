"""Metric warnings where tokens vary from run to run: the provider's state of a day is no change of the pull request."""

from __future__ import annotations

from math import exp
from random import Random

import pytest

from tests.make import trial_result
from tidegate.decide.comparison.metric_tests import RowTrials, compared_metrics
from tidegate.model.measurement import Metrics, PastTrial, TrialResult

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
