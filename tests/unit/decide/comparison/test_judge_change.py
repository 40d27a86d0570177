"""The judge's results for both sides of a row."""

from __future__ import annotations

import pytest

from tests import make
from tests.unit.lab.test_labelling import trial
from tidegate.decide.comparison.judge_change import judge_change
from tidegate.model.evaluator import Judgement
from tidegate.model.judge_result import JudgeResult
from tidegate.model.measurement import EvaluatorResult, GateResult, TrialResult


def test_a_side_has_the_judge_s_confidence_issues_and_highlights() -> None:
    """The issues that most trials share come first, and at most three are kept."""

    def said(confidence: float | None, issues: tuple[str, ...], highlights: tuple[str, ...] = ()) -> TrialResult:
        one = trial(1, 0.9)
        judgement = Judgement(confidence=confidence, issues=issues, highlights=highlights)
        return one.model_copy(update={"judge": JudgeResult(pass_threshold=0.5, judgement=judgement)})

    head = [said(0.9, ("slow", "a", "b", "c")), said(0.7, ("vague", "slow"), ("done",)), said(None, ("slow", "vague"))]
    found = judge_change([trial(1, 0.9)], head)
    assert found is not None
    assert found.head.confidence == pytest.approx(0.8)
    assert (found.head.issues, found.head.highlights) == (("slow", "vague", "a"), ("done",))


@pytest.mark.parametrize("required", [True, False])
def test_only_a_required_gate_that_failed_explains_why_the_judge_said_nothing(required: bool) -> None:
    gate = GateResult(type="file_exists", label="hint", passed=False, required=required, message="missing")
    silent = EvaluatorResult(name="tone", type="llm_judge", judged=True, reason="no answer")
    found = judge_change([], [make.trial_result(gates=(gate,), evaluators=(silent,))])
    assert found is not None
    assert (found.head.not_judged, found.head.reason) == ((0, "") if required else (1, "no answer"))
