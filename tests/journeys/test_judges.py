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


def test_an_answer_that_both_sides_share_is_a_cached_one(make_repository: Make, tidegate: Make) -> None:
    repo = make_repository()
    repo.commit(JUDGED)
    repo.branch("same", {"bin/extra": "x\n"})

    ran = tidegate("pr", "--base", "main", cwd=repo.root)

    assert "2 trials judged · 1 call and 1 cached answer ·" in ran.comment


def test_where_only_a_model_looks_what_it_could_not_judge_is_not_measured(
    make_repository: Make, tidegate: Make
) -> None:
    repo = make_repository()
    scenario = FILES["scenarios/keep.yaml"].partition("evaluation:")[0]
    scenario += "evaluation: {evaluators: [{type: rubrics, rubrics: [Both notes are kept.]}]}\n"
    repo.commit(FILES | {"scenarios/keep.yaml": scenario})
    repo.branch("fewer", FEWER)

    ran = tidegate("pr", "--base", "main", cwd=repo.root)

    row = ran.row("keep_notes")
    assert (row["state"], row["not_measured"]) == ("not_measured", "judge")
    assert "tidegate.yaml has no `judge`" in row["reason"]
    assert (ran.code, ran.result["verdict"]["state"]) == (4, "not_run")


def test_a_judge_blocks_if_the_policy_says_so(make_repository: Make, tidegate: Make) -> None:
    repo = make_repository()
    repo.commit(JUDGED | {"tidegate.yaml": JUDGED["tidegate.yaml"] + "policy: {judge_blocks: true}\n"})
    repo.branch("fewer", FEWER)

    ran = tidegate("pr", "--base", "main", cwd=repo.root)

    assert (ran.code, ran.row("keep_notes")["state"]) == (1, "regressed")
    assert "judge 0.37 is below 0.7: complete 0.20: Only one note is there; clear 0.40" in ran.comment
    assert "Judged by a model (can block)" in ran.comment


def test_a_judge_of_the_pull_request_takes_effect_after_the_merge(make_repository: Make, tidegate: Make) -> None:
    repo = make_repository()
    repo.commit(JUDGED)
    kind = JUDGED["tidegate.yaml"].replace("score: 0.85", "score: 1").replace("0.2", "1")
    repo.branch("kind", FEWER | {"tidegate.yaml": kind})

    ran = tidegate("pr", "--base", "main", cwd=repo.root)

    head = next(trial for trial in ran.result["trials"] if trial["side"] == "head")
    assert head["judge"]["weighted_score"] == pytest.approx(0.37)
    assert any(change["detail"].startswith("judge") for change in ran.result["definitions"])


def test_a_judge_of_the_tested_model_is_refused(make_repository: Make, tidegate: Make) -> None:
    repo = make_repository()
    suite = JUDGED["tidegate.yaml"].replace("doc-follower}", "doc-follower, model: m-1}")
    repo.commit(JUDGED | {"tidegate.yaml": suite.replace("type: scripted", "type: scripted\n  model: lab/M-1")})

    ran = tidegate("run", cwd=repo.root)

    assert ran.code == 2
    assert "the judge's model, lab/M-1, is the one that docs is tested with" in ran.stderr


LATE = """\
import json, os, pathlib, sys
results = json.load(sys.stdin)["results"]
assert os.environ["TIDEGATE_SCENARIO"] == "keep_notes"
assert "second" in pathlib.Path(os.environ["TIDEGATE_FIXTURE_DIR"], "notes.txt").read_text()
assert "notes add" in pathlib.Path(os.environ["TIDEGATE_TRANSCRIPT"]).read_text()
print(json.dumps({"score": min(one["score"] for one in results.values()), "reasoning": "the lowest counts"}))
"""


def test_a_script_can_put_together_what_models_said(make_repository: Make, tidegate: Make) -> None:
    """It is run after the judge, beside the rebuilt workspace and the transcript."""
    repo = make_repository()
    evaluators = """\
  evaluators:
    - type: composite
      aggregator: {type: code_judge, path: python3 late.py}
      evaluators:
        - {type: llm_judge, name: one}
        - {type: llm_judge, name: two, prompt: two.md}
"""
    judge = "judge: {type: scripted, script: [{when: Mine, answers: [{score: 0.3}]}, {answers: [{score: 0.9}]}]}\n"
    repo.commit(
        FILES
        | {
            "tidegate.yaml": FILES["tidegate.yaml"] + judge,
            "scenarios/keep.yaml": FILES["scenarios/keep.yaml"] + evaluators,
            "scenarios/two.md": "Mine: {{ candidate_answer }} {{ transcript }}",
            "scenarios/late.py": LATE,
        }
    )
    repo.branch("other", {"README.md": "x\n"})

    ran = tidegate("pr", "--base", "main", cwd=repo.root)

    assert ran.code == 0, ran.stderr
    for trial in ran.result["trials"]:
        (found,) = trial["evaluators"]
        assert (found["score"], found["reason"], found["judged"]) == (0.3, "the lowest counts", True)
        assert (trial["outcome"], trial["decides"]) == ("fail", "pass")
