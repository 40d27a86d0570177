"""The real agents that the tests run, and what they are given to do."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from tidegate.agents.claude_code import ClaudeCodeAgent
from tidegate.agents.codex import CodexAgent
from tidegate.agents.coding import CodingAgent
from tidegate.agents.gemini import GeminiAgent
from tidegate.agents.opencode import OpenCodeAgent
from tidegate.model.trial import Trial

DUMMY = "dummy-key-of-"
KEYS = {
    name: DUMMY + name.lower() for name in ("ANTHROPIC_API_KEY", "OPENAI_API_KEY", "GEMINI_API_KEY", "GITHUB_TOKEN")
}
EXAMPLE = Path(__file__).parents[3] / "examples" / "taskmgr"
Script = list[tuple[str, list[Any]]]  # what the model says, and what it runs: command lines, or [tool, arguments]


# Eight calls of the target, five of which fail; every shell call ends with 0.
MASK: Script = [
    ("a pipe", ["taskmgr ls | head -1"]),
    ("a sequence", ["taskmgr ls; taskmgr --help >/dev/null; echo done"]),
    ("an alternative", ["taskmgr list || true"]),
    ("a loop", ["for i in 1 2; do taskmgr list --format $i; done; taskmgr list 'a b' c 2>/dev/null; true"]),
    ("another program", ["""python3 -c 'import subprocess; print(subprocess.run(["taskmgr", "list"]).returncode)'"""]),
    ("the environment", ["env"]),
    ("others' environments", ["cat /proc/[0-9]*/environ 2>/dev/null | grep -acz 'dummy-ke[y]-of' || true"]),
    ("That was all.", []),
]


# What a project can say to have agents use sandboxes of their own, which cannot start inside of Tidegate's.
OWN_SANDBOXES = {
    ".claude/settings.json": '{"sandbox": {"enabled": true, "failIfUnavailable": true}}',
    ".gemini/settings.json": '{"tools": {"sandbox": true}}',
    ".codex/config.toml": 'sandbox_mode = "workspace-write"\n',
}


class Case(NamedTuple):
    """An agent, how the suite names it, and whether its shell sees what it was given as its key."""

    agent: type[CodingAgent]
    written: str
    key: str
    shell_sees_token: bool


CASES = [
    Case(ClaudeCodeAgent, "{type: claude-code, model: claude-haiku-4-5}", "ANTHROPIC_API_KEY", True),
    Case(CodexAgent, "{type: codex, model: gpt-5.5}", "OPENAI_API_KEY", False),
    Case(GeminiAgent, "{type: gemini, model: gemini-3.8-flash}", "GEMINI_API_KEY", False),
    Case(OpenCodeAgent, "{type: opencode, model: anthropic/claude-haiku-4-5}", "ANTHROPIC_API_KEY", True),
]


class Job(NamedTuple):
    """What makes the repository in a folder, for an agent as a suite names it; and what the model says.

    `head` are the files that a pull request changes. Requests with the text of `refused` get that status and message.
    """

    repository: Callable[[Path, str], None]
    script: Script
    head: Mapping[str, str] = {}
    refused: tuple[str, int, str] | None = None


class Ran(NamedTuple):
    """The one trial that was run, its run, what the model was asked, and the record's folder."""

    trial: Trial
    run: dict[str, Any]
    requests: str
    record: Path


class Compared(NamedTuple):
    """A comparison of a base with a head: exit code, `result.json` and the comment."""

    code: int
    result: dict[str, Any]
    comment: str


def example(folder: Path, agent: str) -> None:
    """The example's repository, with a suite of its first scenario and this agent, which reaches its model alone."""
    shutil.copytree(EXAMPLE, folder, dirs_exist_ok=True, ignore=shutil.ignore_patterns("__pycache__"))
    target = "{binary: taskmgr, command_pattern: 'taskmgr\\s+(\\S+)'}"
    scenarios = "scenarios: [scenarios/create_tasks.yaml]\npath: [bin]"
    (folder / "tidegate.yaml").write_text(
        f"version: 1\n{scenarios}\ntarget: {target}\nnetwork: {{agent: false}}\nagents: {{real: {agent}}}\n"
        f"guidance: [AGENTS.md, CLAUDE.md, {', '.join(OWN_SANDBOXES)}]\n"
    )
    for name, text in OWN_SANDBOXES.items():
        (folder / name).parent.mkdir()
        (folder / name).write_text(text)
    (folder / "CLAUDE.md").write_text("@AGENTS.md\n")
