"""Where the judge counts: what head keeps the judge from answering is repeated, and never green."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.conftest import Repository
from tests.journeys.conftest import NOTES, SCENARIO, Ran, start
from tests.thorough.attempts.attempt import FILES

RUBRIC = "criteria: [{id: complete, weight: 1, description: Both notes are kept.}]\n"
JUDGE = """\
policy: {judge_blocks: true}
judge:
  type: scripted
  script:
    - {when: say nothing, answers: [I would rather not.]}
    - {when: too much of it, answers: [''], end: failed}
    - {when: be away, answers: [''], end: outage}
    - {when: think long, answers: [''], end: timeout}
    - answers: [{scores: {complete: 0.9}}]
"""
JUDGED = {
    **FILES,
    "tidegate.yaml": FILES["tidegate.yaml"] + JUDGE,
    "scenarios/keep.yaml": SCENARIO.partition("evaluation:")[0] + "evaluation: {judge: {rubric: rubrics/notes.yaml}}\n",
    "scenarios/rubrics/notes.yaml": RUBRIC,
}


def run(folder: Path, notes: str) -> Ran:
    """`tidegate pr` where head's tool prints this for the judge to read."""
    repo = Repository(folder / "repo")
    repo.commit(JUDGED)
    repo.branch("pr", {"bin/notes": NOTES.replace("  add) shift;", f"  add) shift; echo {notes};")})
    return start(folder / "out", "pr", "--base", "main", "--head", "pr", "--pause", "0", cwd=repo.root)


@pytest.mark.attempt("has the tool print what makes the judge's answer unreadable", "regression")
def test_an_unreadable_answer_is_repeated_and_counts(tmp_path: Path) -> None:
    ran = run(tmp_path, "say nothing")

    assert (ran.out / "result.json").exists(), ran.stderr
    row = ran.row("keep_notes")
    assert (ran.code, row["state"], row["kind"]) == (1, "regressed", "unmeasurable"), ran.stderr
    assert "the answer cannot be read: it is not JSON: I would rather not." in row["reason"]
    assert row["head"]["not_measured"] == 5


@pytest.mark.attempt("has the tool print so much that the judge's provider refuses the question", "regression")
def test_a_refused_question_is_repeated_and_counts(tmp_path: Path) -> None:
    assert run(tmp_path, "too much of it").code == 1


@pytest.mark.attempt("has the tool print what takes the judge too long to answer", "regression")
def test_an_answer_that_takes_too_long_is_repeated_and_counts(tmp_path: Path) -> None:
    assert run(tmp_path, "think long").code == 1


@pytest.mark.attempt("has the tool print what the judge cannot answer", "unproven", 5)
def test_an_outage_of_the_judge_that_only_head_meets_is_not_green(tmp_path: Path) -> None:
    ran = run(tmp_path, "be away")

    assert (ran.out / "result.json").exists(), ran.stderr
    row = ran.row("keep_notes")
    assert (ran.code, row["state"]) == (5, "unconfirmed"), ran.stderr
    assert "no outcome (judge" in row["reason"]
