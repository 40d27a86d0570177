"""What a judge is shown of real agents' work, and that each of their trials gets an answer of its own."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.real_agents.agents import CASES, Case, Compared, Job, Script, example

SCRIPT: Script = [
    ("I add it.", ["taskmgr list > seen.txt; echo kept > notes.txt; taskmgr list --format 1 || true"]),
    ("Done.", []),
]
# Meets a criterion if the block of that name has the text that the criterion is about. It appends a line for each call.
JUDGE = """\
import json, os, re, sys
found = re.findall(r"<data (\\w+) name=(\\w+)>\\n(.*?)\\n</data \\1>", sys.stdin.read(), re.S)
blocks = {name: body for _, name, body in found}
wanted = {"calls": "list --format 1 [exit 2]", "changes": "+kept", "files": "== notes.txt ==\\nkept"}
scores = [{"id": name, "reason": blocks.get(name, "no such block"), "score": float(text in blocks.get(name, ""))}
          for name, text in wanted.items()]
print(json.dumps({"scores": scores}))
"""
RUBRIC = """\
criteria:
  - {id: calls, weight: 0.4, description: A wrong call is recorded with its exit code.}
  - {id: changes, weight: 0.3, description: The note is a change.}
  - {id: files, weight: 0.3, description: notes.txt has the note.}
"""
SCENARIO = """\
name: judged
description: A note is kept.
task: Keep a note.
evaluation:
  gates: [{type: file_exists, path: notes.txt}]
  judge: {rubric: rubric.yaml, files: [notes.txt]}
"""


def judged(folder: Path, agent: str) -> None:
    """The example with one judged scenario, three trials a side, and a judge that reads what it is shown."""
    example(folder, agent)
    suite = (folder / "tidegate.yaml").read_text().replace("scenarios/create_tasks.yaml", "judged.yaml")
    suite += "trials: {min: 3}\njudge: {type: command, model: m, command: python3 judge.py}\n"
    for name, text in {
        "tidegate.yaml": suite,
        "judged.yaml": SCENARIO,
        "rubric.yaml": RUBRIC,
        "judge.py": JUDGE,
    }.items():
        (folder / name).write_text(text)


@pytest.mark.parametrize("case", CASES[:2], ids=lambda case: case.agent.program)
def test_a_judge_sees_the_work_and_answers_once_for_each_number(
    case: Case, compare_agent: Callable[[Case, Job], Compared]
) -> None:
    """Base's and head's trial of one number read the same and share an answer; numbers never do: 3 answers, not 1."""
    ran = compare_agent(case, Job(judged, SCRIPT, head={"bin/extra": "x\n"}))
    trials = ran.result["trials"]
    assert len(trials) == 6, ran.result["warnings"]
    for trial in trials:
        assert trial["judge"]["scores"] == {"calls": 1, "changes": 1, "files": 1}, trial["judge"]
    used = [trial["judge_use"] for trial in trials]
    assert 3 <= sum(one["calls"] for one in used) <= 6
    assert sum(one["calls"] + one["cached"] for one in used) == 6
