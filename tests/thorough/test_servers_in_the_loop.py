"""An MCP server as the target of the built-in loop: calls, a server that dies, another user."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

from tests import mcp_server
from tests.as_root import SYSTEM_PATH, needs_open_python, needs_root, open_python
from tests.as_root import tidegate as tidegate_of_others
from tests.conftest import Repository
from tests.journeys.test_servers_in_the_loop import BOOKS, KEY, SUITE, add, suite
from tests.journeys.test_servers_in_the_loop import run as run
from tests.model_server import Step, ToolUse, serving
from tidegate.model.event import ToolResult
from tidegate.model.trial import Trial


def test_calls_of_tools_are_invocations(run: Callable[..., tuple[dict[str, Any], Trial]], tmp_path: Path) -> None:
    result, trial = run(BOOKS)
    assert (result["outcome"], result["warnings"], trial.end) == ("pass", [], "completed")
    assert [(call["command"], call["status"], call["exit_code"]) for call in result["calls"]] == [
        ("shelf where", "ok", None),
        ("shelf add", "error", None),
        ("""shelf add '{"title": "Emma"}'""", "ok", None),
        ("""shelf add '{"title": "Ulysses"}'""", "ok", None),
    ]
    assert [call["message"] for call in result["calls"]][1:3] == ["add: needs a title", "added Emma"]
    assert (result["metrics"]["command_count"], result["metrics"]["error_count"]) == (4, 1)
    seen = "".join(event.output for event in trial.events if isinstance(event, ToolResult))
    assert "PATH=" in seen, "the shell tells its environment"
    assert "'PATH'" in seen, "and the server"
    assert "ANTHROPIC" not in seen
    assert KEY not in seen
    assert next(tmp_path.rglob("server.stderr")).read_text() == "starting\n"


def test_a_server_that_dies_leaves_the_trial_to_its_gates(run: Callable[..., tuple[dict[str, Any], Trial]]) -> None:
    result, trial = run([Step("", (add("Emma"), add("die"), add("Ulysses"))), Step("I can't.")])
    assert (result["outcome"], result["not_measured"], trial.end) == ("fail", None, "completed")
    assert [call["status"] for call in result["calls"]] == ["ok", "error", "not_executed"]
    assert result["metrics"]["command_count"] == 2
    statuses = [(event.status, event.output) for event in trial.events if isinstance(event, ToolResult)]
    gone = "the server has ended: exit 3"
    assert statuses == [("ok", "added Emma"), ("unfinished", gone), ("not_executed", gone)]


@needs_root
@needs_open_python
def test_as_root_the_server_is_the_trials_user_and_outlives_the_shells_commands(open_folder: Path) -> None:
    repository = Repository(open_folder / "repo")
    shutil.copy(mcp_server.__file__, open_folder)
    shelf = f'#!/bin/sh\nexec {open_python()} -IS {open_folder}/mcp_server.py "$@"\n'
    files = f"files: {{read: ['{open_folder}/mcp_server.py']}}\n"
    repository.commit({**suite(), "tidegate.yaml": SUITE.replace("QUIRKS", "") + files, "bin/shelf": shelf})
    where = ToolUse("shelf/where", {})
    with serving([Step("", ("id -u; sleep 60 &", where, "id -u", add("Emma"), add("Ulysses"))), Step("")]) as server:
        env = {"PATH": SYSTEM_PATH, "ANTHROPIC_API_KEY": KEY, "ANTHROPIC_BASE_URL": server.url, "HOME": "/root"}
        command = tidegate_of_others("run", "--trials", "1", "--out", str(open_folder / "run"))
        done = subprocess.run(command, cwd=repository.root, env=env, capture_output=True, text=True, check=False)
    trial = Trial.model_validate_json(next(open_folder.rglob("trial.json")).read_text())
    assert "isolation of trials: own user" in done.stderr
    first, said, last, *_ = [event.output for event in trial.events if isinstance(event, ToolResult)]
    assert first == last == said.split()[1] != "0"
    assert [call.status for call in trial.invocations] == ["ok"] * 3
    owners = {path.stat().st_uid for path in (open_folder / "run").rglob("*")}
    assert owners == {os.getuid()}
