"""The real programs of real agents do a scenario of examples/, with a scripted model in the place of theirs.

As root, where a Python can be had that other users can run, they do it as the user of a trial.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from tests.as_root import SYSTEM_PATH, open_python, tidegate
from tests.conftest import Repository
from tests.real_agents.conftest import for_others
from tidegate.agents import ClaudeCodeAgent, CodexAgent, GeminiAgent, OpenCodeAgent
from tidegate.agents.coding import CodingAgent
from tidegate.model.event import ToolCall, ToolResult
from tidegate.model.trial import Trial

EXAMPLE = Path(__file__).parents[2] / "examples" / "taskmgr"
ALONE = Path(__file__).with_name("alone.py")
DUMMY = "dummy-key-of-"
KEYS = {
    name: DUMMY + name.lower() for name in ("ANTHROPIC_API_KEY", "OPENAI_API_KEY", "GEMINI_API_KEY", "GITHUB_TOKEN")
}
# Eight calls of the target, five of which fail; every shell call ends with 0.
MASK = [
    ("a pipe", ["taskmgr ls | head -1"]),
    ("a sequence", ["taskmgr ls; taskmgr --help >/dev/null; echo done"]),
    ("an alternative", ["taskmgr list || true"]),
    ("a loop", ["for i in 1 2; do taskmgr list --format $i; done; taskmgr list 'a b' c 2>/dev/null; true"]),
    ("another program", ["""python3 -c 'import subprocess; print(subprocess.run(["taskmgr", "list"]).returncode)'"""]),
    ("the environment", ["env"]),
    ("That was all.", []),
]


class Case(NamedTuple):
    """An agent, how the suite names it, and what of its key its shell sees."""

    agent: type[CodingAgent]
    written: str
    key: str
    shell_sees_key: bool


CASES = [
    Case(ClaudeCodeAgent, "{type: claude-code, model: claude-haiku-4-5}", "ANTHROPIC_API_KEY", True),
    Case(CodexAgent, "{type: codex, model: gpt-5.5}", "OPENAI_API_KEY", False),
    Case(GeminiAgent, "{type: gemini, model: gemini-3.8-flash}", "GEMINI_API_KEY", False),
    Case(OpenCodeAgent, "{type: opencode, model: anthropic/claude-haiku-4-5}", "ANTHROPIC_API_KEY", True),
]


class Ran(NamedTuple):
    trial: Trial
    run: dict[str, Any]
    requests: str
    record: Path


@pytest.fixture
def run_agent(open_folder: Path, installed: Callable[[type[CodingAgent]], Path]) -> Callable[[Case], Ran]:
    """Runs the example's scenario with a real agent and the scripted model."""

    def run(case: Case) -> Ran:
        programs = installed(case.agent)
        out = open_folder / "run"
        command, path = [sys.executable, "-m", "tidegate"], os.environ["PATH"]
        if os.geteuid() == 0 and open_python() is not None:
            programs = for_others(programs, case.agent, open_folder / "agent")
            command, path = tidegate(), SYSTEM_PATH
        repository = Repository(open_folder / "taskmgr")
        shutil.copytree(EXAMPLE, repository.root, dirs_exist_ok=True, ignore=shutil.ignore_patterns("__pycache__"))
        target = "{binary: taskmgr, command_pattern: 'taskmgr\\s+(\\S+)'}"
        scenarios = "scenarios: [scenarios/create_tasks.yaml]\npath: [bin]"
        suite = f"version: 1\n{scenarios}\ntarget: {target}\nagents: {{real: {case.written}}}\n"
        repository.commit({"tidegate.yaml": suite, "CLAUDE.md": "@AGENTS.md\n"})
        script, requests = (open_folder / name for name in ("script.json", "requests.json"))
        script.write_text(json.dumps(MASK))
        done = subprocess.run(
            [
                sys.executable,
                str(ALONE),
                str(script),
                str(requests),
                *command,
                "run",
                "--trials",
                "1",
                "--out",
                str(out),
            ],
            cwd=repository.root,
            env={**os.environ, **KEYS, "PATH": f"{programs}:{path}"},
            capture_output=True,
            text=True,
            timeout=300,
            check=False,
        )
        records = list(out.rglob("trial.json"))
        assert records, f"{done.returncode}\n{done.stdout}\n{done.stderr}"
        trial = Trial.model_validate_json(records[0].read_text())
        return Ran(trial, json.loads((out / "run.json").read_text()), requests.read_text(), records[0].parent)

    return run


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.agent.program)
def test_a_real_agent_is_recorded_exactly(case: Case, run_agent: Callable[[Case], Ran]) -> None:
    """Eight invocations and five errors; and no token, and nobody else's key, in what its shell sees."""
    ran = run_agent(case)
    trial = ran.trial
    assert (trial.not_measured, trial.end, trial.end_message) == (None, "completed", "")
    statuses = [call.status for call in trial.invocations]
    assert (len(statuses), statuses.count("error")) == (8, 5)
    assert {call.source for call in trial.invocations} == {"recorder"}
    shell = [event for event in trial.events if isinstance(event, ToolCall) and event.command]
    assert [event.command for event in shell] == [command for _, commands in MASK for command in commands]
    results = {event.id: event for event in trial.events if isinstance(event, ToolResult)}
    assert {results[call.id].exit_code for call in shell} == {0}
    assert ran.run["agents"]["real"]["version"] == case.agent.tested
    assert ("own user" in ran.run["confinement"]) == (os.geteuid() == 0 and open_python() is not None)
    # Gemini CLI reads GEMINI.md alone, unless a project's settings say otherwise.
    assert case.agent is GeminiAgent or "of this folder are kept with `taskmgr`" in ran.requests, (
        "the model was told the project's guidance"
    )
    assert_secrets_are_kept(case, ran, results[shell[-1].id].output)


def assert_secrets_are_kept(case: Case, ran: Ran, environment: str) -> None:
    names = {line.partition("=")[0] for line in environment.splitlines()}
    assert "PATH" in names
    assert (case.key in names and f"{case.key}=[{case.key}]" in environment) == case.shell_sees_key
    assert not names & (KEYS.keys() - {case.key})
    kept = [file for file in ran.record.rglob("*") if file.is_file() and DUMMY.encode() in file.read_bytes()]
    assert kept == [], "a key is in the record"
    assert DUMMY in ran.requests, "the model was asked with the agent's own key"
