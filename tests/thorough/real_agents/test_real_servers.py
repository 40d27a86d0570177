"""Real agents use a real MCP server, the file system's of the protocol's own project, through the recorder."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.conftest import Repository
from tests.model_server import Step, ToolUse, serving
from tests.thorough.real_agents.agents import CASES, Case, Job, Ran, Script
from tidegate.model.event import End, ToolResult, Warning
from tidegate.model.trial import Trial

PACKAGE, VERSION = "@modelcontextprotocol/server-filesystem", "2026.8.31"

SCENARIO = """\
name: files
description: Three calls of tools, one of which fails.
target: {mcp: {name: files, command: "node %s/dist/index.js ."}}
task: Write down the milk.
gates:
  - {type: file_contains, path: notes.txt, substring: milk}
"""
SCRIPT: Script = [
    ("Is it there?", [["files/read_text_file", {"path": "none.txt"}]]),
    ("So I write it.", [["files/write_file", {"path": "notes.txt", "content": 'milk "and" bread'}]]),
    ("And look.", [["files/list_directory", {"path": "."}]]),
    ("That was all.", []),
]


CALLS = [
    (("read_text_file", '{"path": "none.txt"}'), "error", None),
    (("write_file", '{"content": "milk \\"and\\" bread", "path": "notes.txt"}'), "ok", None),
    (("list_directory", '{"path": "."}'), "ok", None),
]


def write_suite(folder: Path, agent: str, modules: Path) -> None:
    suite = f"version: 1\nscenarios: [files.yaml]\nagents: {{real: {agent}}}\nfiles: {{read: ['{modules}']}}\n"
    (folder / "tidegate.yaml").write_text(suite)
    (folder / "files.yaml").write_text(SCENARIO % (modules / PACKAGE))


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.agent.program)
def test_each_call_of_a_tool_is_an_invocation(
    case: Case, run_agent: Callable[[Case, Job], Ran], npm: Callable[[str, str], Path], open_folder: Path
) -> None:
    shutil.copytree(npm(PACKAGE, VERSION), open_folder / "node_modules", symlinks=True)

    def repository(folder: Path, agent: str) -> None:
        # Of the models that it knows, Codex shows a server's tools only to one that has searched for them.
        agent = agent.replace("gpt-5.5", "a-new-model")
        write_suite(folder, agent, open_folder / "node_modules")

    ran = run_agent(case, Job(repository, SCRIPT))
    trial = ran.trial
    assert (trial.not_measured, trial.end, trial.end_message) == (None, "completed", "")
    assert [(call.argv, call.status, call.exit_code) for call in trial.invocations] == CALLS
    (result,) = ran.run["trials"]
    assert (result["outcome"], result["metrics"]["error_count"]) == ("pass", 1)
    assert result["calls"][0]["command"].startswith("files read_text_file")
    assert result["calls"][0]["message"], "what the agent was told"
    statuses = [event.status for event in trial.events if isinstance(event, ToolResult)]
    assert statuses == ["error", "ok", "ok"]


EVERYTHING, EVERYTHING_VERSION = "@modelcontextprotocol/server-everything", "2026.8.31"
URL = """\
name: shelf
description: Two calls of tools at a URL, one of which fails.
target:
  mcp:
    name: shelf
    command: "PORT={port} exec node %s/dist/index.js %s"
    url: "http://127.0.0.1:{port}%s"
task: Say milk.
gates:
  - {type: mcp_call, tool: get-sum, input: {a: 20, b: 22}, substring: "42"}
"""
AT_URL: Script = [
    ("So I say it.", [["shelf/echo", {"message": "milk"}]]),
    ("And what not.", [["shelf/echo", {"text": "milk"}]]),
    ("That was all.", []),
]


@pytest.mark.parametrize(("carrier", "path"), [("streamableHttp", "/mcp"), ("sse", "/sse")])
@pytest.mark.parametrize("case", CASES, ids=lambda case: case.agent.program)
def test_each_call_at_a_url_is_an_invocation(
    case: Case,
    run_agent: Callable[[Case, Job], Ran],
    npm: Callable[[str, str], Path],
    open_folder: Path,
    carrier: str,
    path: str,
) -> None:
    """Codex knows streamable HTTP only. Gemini CLI checks arguments itself, and sends no wrong ones."""
    refused = "invalid" if case.agent.program == "gemini" else "error"
    if case.agent.program == "codex" and carrier == "sse":
        pytest.skip("Codex has no client for SSE")
    modules = open_folder / "node_modules"
    shutil.copytree(npm(EVERYTHING, EVERYTHING_VERSION), modules, symlinks=True)

    def repository(folder: Path, agent: str) -> None:
        write_suite(folder, agent.replace("gpt-5.5", "a-new-model"), modules)
        (folder / "files.yaml").write_text(URL % (modules / EVERYTHING, carrier, path))

    ran = run_agent(case, Job(repository, AT_URL))
    trial = ran.trial
    assert (trial.reason, trial.end, trial.end_message) == ("", "completed", "")
    assert [(call.argv, call.status) for call in trial.invocations] == [
        (("echo", '{"message": "milk"}'), "ok"),
        (("echo", '{"text": "milk"}'), refused),
    ]
    assert [event.status for event in trial.events if isinstance(event, ToolResult)] == ["ok", refused]
    assert ran.run["trials"][0]["outcome"] == "pass"
    (end,) = (event for event in trial.events if isinstance(event, End))
    each = 150 if case.key == "ANTHROPIC_API_KEY" else 100  # with those that the cache wrote or read
    answers = 4 if case.agent.program == "opencode" else 3  # it also asks for a title
    assert (end.tokens_in, end.tokens_out) == (answers * each, answers * 20)


def test_the_built_in_loop_does_the_same(
    tmp_path: Path, make_repository: Callable[..., Repository], npm: Callable[[str, str], Path]
) -> None:
    repository = make_repository()
    write_suite(repository.root, "{type: anthropic, model: m}", npm(PACKAGE, VERSION))
    repository.commit({})
    steps = [Step(said, tuple(ToolUse(*call) for call in calls)) for said, calls in SCRIPT]
    with serving(steps) as server:
        env = {**os.environ, "ANTHROPIC_API_KEY": "dummy-key", "ANTHROPIC_BASE_URL": server.url}
        command = [sys.executable, "-m", "tidegate", "run", "--trials", "1", "--out", str(tmp_path / "run")]
        subprocess.run(command, cwd=repository.root, env=env, capture_output=True, timeout=120, check=True)
    trial = Trial.model_validate_json(next(tmp_path.rglob("trial.json")).read_text())
    assert (trial.not_measured, trial.end, trial.end_message) == (None, "completed", "")
    assert [(call.argv, call.status, call.exit_code) for call in trial.invocations] == CALLS
    offered = {tool["name"] for tool in server.requests[0][1]["tools"]}
    assert {"bash", "mcp__files__read_text_file", "mcp__files__write_file"} < offered
    assert not [event for event in trial.events if isinstance(event, Warning)], "every tool of it is offered"
