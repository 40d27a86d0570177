"""The judge's results for both sides of a row."""

from __future__ import annotations

import pytest

from tests.unit.lab.test_labelling import trial
from tidegate.decide.comparison.judge_change import judge_change
from tidegate.model.evaluator import Judgement
from tidegate.model.judge_result import JudgeResult
from tidegate.model.measurement import TrialResult


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
