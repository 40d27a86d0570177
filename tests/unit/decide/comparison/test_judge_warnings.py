"""The judge's results for both sides: few false warnings over 20 rows, and a drop of 0.2 in one row is named."""

from __future__ import annotations

import importlib.util
import random
from pathlib import Path
from types import ModuleType

import pytest

from tests import make
from tests.unit.lab.test_labelling import trial
from tidegate.decide.comparison.compare import compare
from tidegate.decide.comparison.judge_change import judge_change
from tidegate.model.evaluator import Judgement
from tidegate.model.judge_result import JudgeResult
from tidegate.model.measurement import EvaluatorResult, GateResult, Metrics, PastTrial, TrialResult
from tidegate.model.run_row import RunRow


@pytest.fixture(scope="module")
def page() -> ModuleType:
    path = Path(__file__).parents[4] / "docs" / "judge_warnings.py"
    spec = make.sure(importlib.util.spec_from_file_location("judge_warnings", path))
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
    found = make.sure(compare(base, head).rows[0].judge)
    assert (found.base.past, found.warns) == (40, True)
    assert (found.base.score, found.difference) == pytest.approx((0.85, 0.52 - 0.85))


def test_one_trial_a_side_never_warns() -> None:
    row = RunRow(scenario="s", agent="a", deterministic=True)
    base = make.run(judged("base", 1, 1.0), side="base", rows=(row,))
    head = make.run(judged("head", 1, 0.0), rows=(row,))
    found = make.sure(compare(base, head).rows[0].judge)
    assert (found.difference, found.interval, found.warns) == (-1.0, None, False)


# --- the judge's results for both sides of a row


def test_a_side_has_the_judge_s_confidence_issues_and_highlights() -> None:
    """The issues that most trials share come first, and at most three are kept."""

    def said(confidence: float | None, issues: tuple[str, ...], highlights: tuple[str, ...] = ()) -> TrialResult:
        one = trial(1, 0.9)
        judgement = Judgement(confidence=confidence, issues=issues, highlights=highlights)
        return one.model_copy(update={"judge": JudgeResult(pass_threshold=0.5, judgement=judgement)})

    head = [said(0.9, ("slow", "a", "b", "c")), said(0.7, ("vague", "slow"), ("done",)), said(None, ("slow", "vague"))]
    found = make.sure(judge_change([trial(1, 0.9)], head))
    assert found.head.confidence == pytest.approx(0.8)
    assert (found.head.issues, found.head.highlights) == (("slow", "vague", "a"), ("done",))


@pytest.mark.parametrize("required", [True, False])
def test_only_a_required_gate_that_failed_explains_why_the_judge_said_nothing(required: bool) -> None:
    gate = GateResult(type="file_exists", label="hint", passed=False, required=required, message="missing")
    silent = EvaluatorResult(name="tone", type="llm_judge", judged=True, reason="no answer")
    found = make.sure(judge_change([], [make.trial_result(gates=(gate,), evaluators=(silent,))]))
    assert (found.head.not_judged, found.head.reason) == ((0, "") if required else (1, "no answer"))
