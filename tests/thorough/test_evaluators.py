"""A suite with evaluators, end to end: each expected number is computed by hand beside it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from tests.journeys.conftest import FILES

Make = Callable[..., Any]
JUDGE = """\
import json, os, pathlib, sys
told = json.load(sys.stdin)
lines = pathlib.Path(os.environ["TIDEGATE_FIXTURE_DIR"], "notes.txt").read_text().splitlines()
print(json.dumps({"score": len(lines) / 2, "reasoning": told["question"]}))
"""
EVALUATORS = """\
  evaluators:
    - type: tool_trajectory                 # add, add against add, add, list: LCS 2 of 3
      name: way
      mode: in_order
      expected: [{tool: "notes:add"}, {tool: "notes:add"}, {tool: "notes:list"}]
      weight: 0
    - {type: tool_f1, expected: ["notes:add", "notes:add"]}      # 2 of 2: 1
    - {type: expected_state, file: state.json, expected: {lines: 2, first: first}}   # both: 1
    - {type: code_judge, name: lines, script: python3 judge.py, required: true}       # 2 lines of 2: 1
    - type: composite                       # (3 × 1 + 1 × 0) / 4 = 0.75
      name: both
      evaluators:
        - {type: code_judge, name: judge, script: python3 judge.py, weight: 3}
        - {type: code_judge, name: "no", script: "false"}
"""
STATE = """\
scripts:
  post: [{command: 'printf "{\\"lines\\": 2, \\"first\\": \\"%s\\"}" $(head -1 notes.txt) > state.json'}]
"""


def test_scores_of_a_real_trial(make_repository: Make, tidegate: Make) -> None:
    repo = make_repository()
    files = FILES | {
        "scenarios/keep.yaml": STATE + FILES["scenarios/keep.yaml"] + EVALUATORS,
        "scenarios/judge.py": JUDGE,
    }
    repo.commit(files)
    repo.branch("fewer", {"AGENTS.md": FILES["AGENTS.md"].replace("$ notes add first\n", "")})

    ran = tidegate("pr", "--base", "main", cwd=repo.root)

    assert ran.code == 1, ran.stderr
    base = next(trial for trial in ran.result["trials"] if trial["side"] == "base")
    scores = {evaluator["name"]: evaluator["score"] for evaluator in base["evaluators"]}
    assert scores == pytest.approx({"way": 2 / 3, "tool_f1": 1, "expected_state": 1, "lines": 1, "both": 0.75})
    assert base["case_score"] == pytest.approx((1 + 1 + 1 + 0.75) / 4)
    assert base["outcome"] == "pass"
    assert base["evaluators"][3]["reason"] == "Add two notes as AGENTS.md says."
    head = next(trial for trial in ran.result["trials"] if trial["side"] == "head")
    assert head["evaluators"][1]["score"] == pytest.approx(2 / 3)  # 1 of 2: 2·1 / (2 + 1)
    assert head["evaluators"][3]["verdict"] == "fail"


def test_an_evaluator_alone_can_regress_a_row(make_repository: Make, tidegate: Make) -> None:
    repo = make_repository()
    scenario = FILES["scenarios/keep.yaml"].partition("evaluation:")[0]
    scenario += "evaluation: {evaluators: [{type: tool_f1, expected: ['notes:add', 'notes:add']}]}\n"
    repo.commit(FILES | {"scenarios/keep.yaml": scenario})
    repo.branch("fewer", {"AGENTS.md": FILES["AGENTS.md"].replace("$ notes add first\n", "")})

    ran = tidegate("pr", "--base", "main", cwd=repo.root)

    assert (ran.code, ran.row("keep_notes")["state"]) == (1, "regressed")
    assert ran.row("keep_notes")["evidence"]["message"] == (
        "case score 0.67 is below 0.8; lowest: tool_f1, borderline with 0.67: not called: notes:add"
    )
    assert "case score 0.67 is below 0.8" in ran.comment
