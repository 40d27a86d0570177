"""What a judge is shown of real agents' work, and that each of their trials gets an answer of its own."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from tests import make
from tests.thorough.real_agents.agents import CASES, Case, Compared, Job, Script, example

SCRIPT: Script = [
    ("I add it.", ["taskmgr list > seen.txt; echo kept > notes.txt; taskmgr list --format 1 || true"]),
    ("Done.", []),
]
SEEN = {"calls": "list --format 1 [exit 2]", "changes": "+kept", "files": "== notes.txt ==\nkept"}
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
        **make.judge_files(**SEEN),
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
