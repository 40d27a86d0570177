"""Answers of judges: one that is not in the form is no score, and says why."""

from __future__ import annotations

import json
from functools import partial
from typing import Any

import pytest

from tidegate.checks.rubrics.reading import Scores, read_checks, read_score, read_scores

IDS = ("both", "short")
MET, SHORT = {"id": "both", "satisfied": True}, {"id": "short", "satisfied": False}
GOOD, OTHER = {"id": "both", "score": 0.85, "reason": "So it is."}, {"id": "short", "score": 1}


def scores(*entries: dict[str, Any], **more: Any) -> str:
    return json.dumps({"scores": entries, **more})


def checks(*entries: dict[str, Any]) -> str:
    return json.dumps({"checks": entries})


def test_scores_are_read_with_their_reasons_and_not_the_judges_own_sum() -> None:
    read = read_scores(f"```json\n{scores(GOOD, OTHER, weighted_score=0.2, confidence=0.8)}\n```", IDS)
    assert read == Scores({"both": 0.85, "short": 1}, {"both": "So it is.", "short": ""}, confidence=0.8)
    assert (
        read_scores('{"scores": {"both": 1, "short": 0}, "reasons": {"short": "No."}}', IDS).reasons["short"] == "No."
    )


def test_a_check_is_met_or_not() -> None:
    assert read_checks(checks(MET, SHORT), IDS).scores == {"both": 1, "short": 0}


def test_a_single_score_has_what_was_missed_as_its_reason_if_there_is_no_other() -> None:
    assert read_score('{"score": 0.9, "misses": ["a", "b"]}') == Scores(
        {"score": 0.9}, {"score": "a; b"}, issues=("a", "b")
    )


NEEDS_ISSUES = partial(read_scores, required=("issues",))


@pytest.mark.parametrize(
    ("read", "answer", "why"),
    [
        (read_scores, '{"scores": [', "it is not JSON: "),
        (read_scores, "Very good work!", "it is not JSON: Very good work!"),
        (read_scores, "[1]", "it is not a JSON object"),
        (read_scores, '{"scores": [], "scores": []}', "`scores` is there twice"),
        (read_scores, '{"scores": 1}', "it has no list of `scores`; expected "),
        (read_scores, scores(GOOD), "the criterion `short` is missing"),
        (read_scores, scores(GOOD, OTHER, {"id": "nice", "score": 1}), "`nice` is not a criterion of the rubric"),
        (read_scores, scores(GOOD, OTHER, GOOD), "the criterion `both` is there twice"),
        (read_scores, scores(GOOD, {**OTHER, "score": 85}), "the score of `short` is not between 0 and 1: 85"),
        (read_scores, scores(GOOD, {**OTHER, "score": "0.9"}), "the score of `short` is not a number: '0.9'"),
        (read_scores, scores(GOOD, {**OTHER, "score": True}), "the score of `short` is not a number: True"),
        (read_scores, scores(GOOD, OTHER, confidence=2), "the score `confidence` is not between 0 and 1: 2"),
        (NEEDS_ISSUES, scores(GOOD, OTHER), "it has no `issues`, which the rubric requires"),
        (read_checks, checks(), "the criterion `both` is missing"),
        (read_checks, checks(SHORT), "the criterion `both` is missing"),
        (read_checks, checks(MET, MET, SHORT), "the criterion `both` is there twice"),
        (read_checks, checks(MET, SHORT, {"id": "nice", "satisfied": True}), "`nice` is not a criterion of the rubric"),
        (read_checks, checks({"id": "both", "satisfied": "yes"}, SHORT), "`satisfied` of `both` is neither true nor "),
        (lambda text, _: read_score(text), "{}", "it has no `score`; expected "),
        (lambda text, _: read_score(text), '{"score": 85}', "the score is not between 0 and 1: 85"),
        (lambda text, _: read_score(text), '{"score": "0.9"}', "the score is not a number: '0.9'"),
    ],
)
def test_an_answer_out_of_form_is_refused_with_what_is_wrong(read: Any, answer: str, why: str) -> None:
    with pytest.raises(ValueError, match=r"\w") as refused:
        read(answer, IDS)
    assert str(refused.value).startswith(why)
