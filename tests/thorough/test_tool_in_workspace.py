"""A tool that lies in the workspace and is called as `./notes`, as in llm-tool-test's own example."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from tests.journeys.conftest import NOTES

Make = Callable[..., Any]
SUITE = """\
version: 1
scenarios: [fixtures/basic.yaml]
agents:
  path: {type: scripted, steps: {basic: ['./notes add "a note"', './notes list && ./notes count', './notes bogus']}}
"""
BASIC = """\
name: basic
description: The tool is part of the workspace.
target: {binary: notes, command_pattern: "notes\\\\s+(\\\\S+)", health_check: ./notes --version}
task: Run ./notes add "a note".
setup: {commands: [chmod +x notes]}
gates: [{type: file_contains, path: notes.txt, substring: a note}]
"""


def test_its_calls_are_counted_from_the_log(make_repository: Make, tidegate: Make) -> None:
    """No recorder sees a call by a path."""
    repo = make_repository()
    repo.commit({"tidegate.yaml": SUITE, "fixtures/basic.yaml": BASIC, "fixtures/basic/notes": NOTES})
    ran = tidegate("run", "--json", cwd=repo.root)
    assert ran.code == 0, ran.stderr
    path, *_ = json.loads(ran.stdout)["trials"]
    assert path["outcome"] == "pass"
    assert (path["metrics"]["command_count"], path["metrics"]["error_count"]) == (4, 1)
    assert path["invocations"] | {"not_counted": 0} == {
        "recorder": 0,
        "events": 4,
        "unseen_by_recorder": 4,
        "not_counted": 0,
        "uses": 4,
    }
