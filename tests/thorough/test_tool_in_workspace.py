"""A tool that lies in the workspace and is called as `./notes`, as in llm-tool-test's own example."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from tests.journeys.conftest import NOTES
from tests.unit.reports.test_html import data

Make = Callable[..., Any]
SUITE = """\
version: 1
scenarios: [fixtures/basic.yaml]
agents:
  path: {type: scripted, steps: {basic: ['./notes add "a note"', './notes list && ./notes count', './notes bogus']}}
  text:
    type: command
    command: "./notes add 'a note'; printf '$ notes add x\\nexit code 0\\n$ notes nope\\nexit status 2\\n'"
"""
BASIC = """\
name: basic
description: The tool is part of the workspace.
target: {binary: notes, command_pattern: "notes\\\\s+(\\\\S+)", health_check: ./notes --version}
task: Run ./notes add "a note".
setup: {commands: [chmod +x notes]}
gates: [{type: file_contains, path: notes.txt, substring: a note}]
"""


def test_its_calls_are_counted_from_the_log_or_from_what_the_agent_prints(
    make_repository: Make, tidegate: Make
) -> None:
    """No recorder sees a call by a path. The text of an agent without a log of its calls is approximate."""
    repo = make_repository()
    repo.commit({"tidegate.yaml": SUITE, "fixtures/basic.yaml": BASIC, "fixtures/basic/notes": NOTES})
    ran = tidegate("run", "--json", cwd=repo.root)
    assert ran.code == 0, ran.stderr
    path, text, *_ = json.loads(ran.stdout)["trials"]
    assert (path["outcome"], text["outcome"]) == ("pass", "pass")
    assert (path["metrics"]["command_count"], path["metrics"]["error_count"]) == (4, 1)
    assert path["invocations"] | {"not_counted": 0} == {
        "recorder": 0,
        "events": 4,
        "transcript": 0,
        "unseen_by_recorder": 4,
        "approximate": False,
        "not_counted": 0,
        "uses": 4,
    }
    assert (text["metrics"]["command_count"], text["metrics"]["error_count"]) == (2, 1)
    assert (text["invocations"]["transcript"], text["invocations"]["approximate"]) == (2, True)

    repo.branch("other", {"README.md": "x"})
    compared = tidegate("pr", cwd=repo.root)
    assert compared.code == 0, compared.stderr
    said = "basic × text: the calls of the tool are approximate in"
    page = data((compared.out / "report.html").read_text())
    assert said in compared.comment
    assert any(warning.startswith(said) for warning in page["warnings"])
    assert {row["agent"]: row["approximate"] for row in page["rows"]} == {"path": False, "text": True}
    assert "basic × path: the calls" not in compared.comment
