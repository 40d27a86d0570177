"""Warnings of the judge: few false ones over 20 rows, and a drop of 0.2 in one row is named."""

from __future__ import annotations

import importlib.util
import random
from pathlib import Path
from types import ModuleType

import pytest

from tests import make
from tidegate.decide.comparison.compare import compare
from tidegate.model.judge_result import JudgeResult
from tidegate.model.measurement import Metrics, PastTrial, TrialResult
from tidegate.model.run_row import RunRow


@pytest.fixture(scope="module")
def page() -> ModuleType:
    path = Path(__file__).parents[4] / "docs" / "judge_warnings.py"
    spec = importlib.util.spec_from_file_location("judge_warnings", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_clean_pull_requests_hardly_warn_and_a_drop_is_named(page: ModuleType) -> None:
    """Of 60 clean ones at most 5 (expected: 1.5), of 30 with a drop at least 15 (expected: 21)."""
    suite, rng = page.SUITES["mixed: 0.03, 0.06, 0.10, 0.15"], random.Random(7)
    assert sum(bool(page.judge_warnings(suite, 40, None, rng)) for _ in range(60)) <= 5
    assert sum(3 in page.judge_warnings(page.SUITES["standard deviation 0.08"], 40, 3, rng) for _ in range(30)) >= 15


def test_a_long_tail_does_not_warn_where_base_has_few_trials(page: ModuleType) -> None:
    """Of 100 clean ones at most 6 (expected: 2.5); of 30 with a drop of rows that vary little at least 25."""
    rng = random.Random(7)
    tail = page.SUITES["one of ten scores 0.35 lower"]
    assert sum(bool(page.judge_warnings(tail, 10, None, rng)) for _ in range(100)) <= 6
    assert sum(3 in page.judge_warnings(page.SUITES["standard deviation 0.05"], 10, 3, rng) for _ in range(30)) >= 25


def judged(side: str, index: int, score: float) -> TrialResult:
    found = JudgeResult(weighted_score=score, pass_threshold=0.1)
    return make.trial_result(side=side, index=index, judge=found, metrics=Metrics(judge_score=score))


def test_bases_history_is_used() -> None:
    """Base has no new trial; its 40 earlier ones scored 0.8 to 0.9."""
    row = RunRow(scenario="s", agent="a", deterministic=False)
    past = [
        PastTrial(scenario="s", agent="a", decides="pass", at=n, sha="x", metrics=Metrics(judge_score=0.8 + n % 2 / 10))
        for n in range(40)
    ]
    base = make.run(side="base", rows=(row,), history=tuple(past))
    head = make.run(*(judged("head", n, 0.5 + n / 100) for n in (1, 2, 3)), rows=(row,))
    found = compare(base, head).rows[0].judge
    assert found is not None
    assert found.base.past == 40
    assert found.base.score == pytest.approx(0.85)
    assert found.difference == pytest.approx(0.52 - 0.85)
    assert found.warns


def test_one_trial_a_side_never_warns() -> None:
    row = RunRow(scenario="s", agent="a", deterministic=True)
    base = make.run(judged("base", 1, 1.0), side="base", rows=(row,))
    head = make.run(judged("head", 1, 0.0), rows=(row,))
    found = compare(base, head).rows[0].judge
    assert found is not None
    assert (found.difference, found.interval, found.warns) == (-1.0, None, False)
