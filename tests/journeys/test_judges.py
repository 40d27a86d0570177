"""Judges end to end, as a person sets them up, with a scripted model."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from tests.journeys.conftest import FILES

Make = Callable[..., Any]
RUBRIC = """\
criteria:
  - {id: complete, weight: 0.3, description: Both notes are kept.}
  - {id: clear, weight: 0.4, description: Each note can be read.}
  - {id: direct, weight: 0.3, description: There was no detour.}
"""
JUDGE = """\
judge:
  type: scripted
  script:
    - when: 'add second'
      answers: [{scores: [
        {id: complete, reason: Both are there., score: 0.85},
        {id: clear, reason: They are plain., score: 0.90},
        {id: direct, reason: One detour., score: 0.70}], weighted_score: 0.2, confidence: 0.8}]
    - answers: [{scores: {complete: 0.2, clear: 0.4, direct: 0.5}, reasons: {complete: Only one note is there.}}]
"""
SCENARIO = FILES["scenarios/keep.yaml"].replace(
    "evaluation:\n", "evaluation:\n  judge: {rubric: rubrics/notes.yaml, pass_threshold: 0.7}\n"
)
SCENARIO = SCENARIO.replace("    - {type: command_output_matches, command: notes list, pattern: second}\n", "")
JUDGED = FILES | {
    "tidegate.yaml": FILES["tidegate.yaml"] + JUDGE,
    "scenarios/keep.yaml": SCENARIO,
    "scenarios/rubrics/notes.yaml": RUBRIC,
}
FEWER = {"AGENTS.md": FILES["AGENTS.md"].replace("$ notes add second\n", "")}


def test_a_judge_scores_with_reasons_and_warns_without_blocking(make_repository: Make, tidegate: Make) -> None:
    repo = make_repository()
    repo.commit(JUDGED)
    repo.branch("fewer", FEWER)

    ran = tidegate("pr", "--base", "main", cwd=repo.root)

    print(ran.comment, ran.stderr)
    base = next(trial for trial in ran.result["trials"] if trial["side"] == "base")
    head = next(trial for trial in ran.result["trials"] if trial["side"] == "head")
    assert base["judge"]["weighted_score"] == pytest.approx(0.825)
    assert (base["outcome"], head["outcome"], head["decides"]) == ("pass", "fail", "pass")
    assert ran.code == 0


def test_a_judge_blocks_if_the_policy_says_so(make_repository: Make, tidegate: Make) -> None:
    repo = make_repository()
    repo.commit(JUDGED | {"tidegate.yaml": JUDGED["tidegate.yaml"] + "policy: {judge_blocks: true}\n"})
    repo.branch("fewer", FEWER)

    ran = tidegate("pr", "--base", "main", cwd=repo.root)

    assert (ran.code, ran.row("keep_notes")["state"]) == (1, "regressed")
    assert "judge 0.37 is below 0.7: complete 0.20: Only one note is there; clear 0.40" in ran.comment
    assert "Judged by a model (can block)" in ran.comment
