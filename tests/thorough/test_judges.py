"""Judges in whole runs: what they read, whose they are, and what a script makes of their answers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from tests import make
from tests.journeys.conftest import FILES
from tests.journeys.test_judges import FEWER, JUDGED

Make = Callable[..., Any]


SEEN = {"calls": "add first [exit 0]", "changes": "+second", "files": "== notes.txt ==\nfirst\nsecond"}


def test_a_judge_sees_what_the_agent_left_behind(pull_request: Make) -> None:
    judge = "  judge: {rubric: rubric.yaml, files: [notes.txt]}\n"

    ran = pull_request(
        FILES
        | {
            "tidegate.yaml": FILES["tidegate.yaml"] + "judge: {type: command, model: m, command: python3 judge.py}\n",
            "scenarios/keep.yaml": FILES["scenarios/keep.yaml"].replace("evaluation:\n", f"evaluation:\n{judge}"),
        }
        | make.judge_files(**SEEN),
        {"README.md": "more"},
    )

    assert ran.code == 0, ran.stderr
    for trial in ran.result["trials"]:
        assert trial["judge"]["scores"] == {"calls": 1, "changes": 1, "files": 1}, trial["judge"]


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


def test_a_judge_of_the_pull_request_takes_effect_after_the_merge(make_repository: Make, tidegate: Make) -> None:
    repo = make_repository()
    repo.commit(JUDGED)
    kind = JUDGED["tidegate.yaml"].replace("score: 0.85", "score: 1").replace("0.2", "1")
    repo.branch("kind", FEWER | {"tidegate.yaml": kind})

    ran = tidegate("pr", "--base", "main", cwd=repo.root)

    head = next(trial for trial in ran.result["trials"] if trial["side"] == "head")
    assert head["judge"]["weighted_score"] == pytest.approx(0.37)
    assert any(change["detail"].startswith("judge") for change in ran.result["definitions"])


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
