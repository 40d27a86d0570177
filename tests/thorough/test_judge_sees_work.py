"""What the judge reads: transcript, calls of the tool, what changed in the workspace, and named files."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tests import make
from tests.journeys.conftest import FILES

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
