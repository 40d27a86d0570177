"""Real agents use a real MCP server, the file system's of the protocol's own project, through the recorder."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.real_agents.agents import CASES, Case, Job, Ran
from tidegate.model.event import ToolResult

PACKAGE, VERSION = "@modelcontextprotocol/server-filesystem", "2026.8.31"

SCENARIO = """\
name: files
description: Three calls of tools, one of which fails.
target: {mcp: {name: files, command: "node %s/dist/index.js ."}}
task: Write down the milk.
gates:
  - {type: file_contains, path: notes.txt, substring: milk}
"""
SCRIPT = [
    ("Is it there?", [["files/read_text_file", {"path": "none.txt"}]]),
    ("So I write it.", [["files/write_file", {"path": "notes.txt", "content": 'milk "and" bread'}]]),
    ("And look.", [["files/list_directory", {"path": "."}]]),
    ("That was all.", []),
]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.agent.program)
def test_each_call_of_a_tool_is_an_invocation(
    case: Case, run_agent: Callable[[Case, Job], Ran], npm: Callable[[str, str], Path], open_folder: Path
) -> None:
    shutil.copytree(npm(PACKAGE, VERSION), open_folder / "node_modules", symlinks=True)

    def repository(folder: Path, agent: str) -> None:
        # Of the models that it knows, Codex shows a server's tools only to one that has searched for them.
        agent = agent.replace("gpt-5.5", "a-new-model")
        (folder / "tidegate.yaml").write_text(f"version: 1\nscenarios: [files.yaml]\nagents: {{real: {agent}}}\n")
        (folder / "files.yaml").write_text(SCENARIO % (open_folder / "node_modules" / PACKAGE))

    ran = run_agent(case, Job(repository, SCRIPT))
    trial = ran.trial
    assert (trial.not_measured, trial.end, trial.end_message) == (None, "completed", "")
    assert [(call.argv, call.status, call.exit_code) for call in trial.invocations] == [
        (("read_text_file", '{"path": "none.txt"}'), "error", None),
        (("write_file", '{"content": "milk \\"and\\" bread", "path": "notes.txt"}'), "ok", None),
        (("list_directory", '{"path": "."}'), "ok", None),
    ]
    (result,) = ran.run["trials"]
    assert (result["outcome"], result["metrics"]["error_count"]) == ("pass", 1)
    assert result["calls"][0]["command"].startswith("files read_text_file")
    assert result["calls"][0]["message"], "what the agent was told"
    statuses = [event.status for event in trial.events if isinstance(event, ToolResult)]
    assert statuses == ["error", "ok", "ok"]
