"""What the judge reads: transcript, calls of the tool, what changed in the workspace, and named files."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tests.e2e.conftest import FILES

Make = Callable[..., Any]
# Meets a criterion if the block of that name has the text that the criterion is about.
JUDGE = """\
import json, re, sys
found = re.findall(r"<data (\\w+) name=(\\w+)>\\n(.*?)\\n</data \\1>", sys.stdin.read(), re.S)
blocks = {name: body for _, name, body in found}
wanted = {"calls": "add first [exit 0]", "changes": "+second", "files": "== notes.txt ==\\nfirst\\nsecond"}
scores = [{"id": name, "reason": blocks.get(name, "no such block"), "score": float(text in blocks.get(name, ""))}
          for name, text in wanted.items()]
print(json.dumps({"scores": scores}))
"""
RUBRIC = """\
criteria:
  - {id: calls, weight: 0.4, description: The first note is added without an error.}
  - {id: changes, weight: 0.3, description: The second note is in notes.txt.}
  - {id: files, weight: 0.3, description: notes.txt has both notes.}
"""


def test_a_judge_sees_what_the_agent_left_behind(make_repository: Make, tidegate: Make) -> None:
    judge = "  judge: {rubric: rubric.yaml, files: [notes.txt]}\n"
    repo = make_repository()
    repo.commit(
        FILES
        | {
            "tidegate.yaml": FILES["tidegate.yaml"] + "judge: {type: command, model: m, command: python3 judge.py}\n",
            "scenarios/keep.yaml": FILES["scenarios/keep.yaml"].replace("evaluation:\n", f"evaluation:\n{judge}"),
            "judge.py": JUDGE,
            "rubric.yaml": RUBRIC,
        }
    )
    repo.branch("pr", {"README.md": "more"})

    ran = tidegate("pr", "--base", "main", cwd=repo.root)

    assert ran.code == 0, ran.stderr
    for trial in ran.result["trials"]:
        assert trial["judge"]["scores"] == {"calls": 1, "changes": 1, "files": 1}, trial["judge"]
