"""Sessions of the real Claude Code, recorded on main, decide which pull requests need the model."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.as_root import SYSTEM_PATH, open_python, tidegate
from tests.conftest import Repository
from tests.real_agents.agents import CASES, KEYS, example
from tests.real_agents.conftest import ALONE, for_others
from tidegate.agents.coding import CodingAgent

CLAUDE = CASES[0]
SCRIPT = [
    ("Look at the help.", ["taskmgr add --help"]),
    ("Add the tasks.", ['taskmgr add "Write the changelog" --priority high', 'taskmgr add "Tag the release"']),
    ("Go on.", ["taskmgr done 1", "mkdir -p notes && cd notes && pwd && date", "ls -la .. | head -n 20"]),
    ("Look.", ["cd .. && taskmgr list --format json | head -c 300"]),
    ("That was all.", []),
]


@pytest.fixture
def run(open_folder: Path, installed: Callable[[type[CodingAgent]], Path]) -> Callable[..., tuple[int, str, int]]:
    """Runs a command; returns its exit code, what it printed, and how often the model was asked."""
    programs = installed(CLAUDE.agent)
    command, path = [sys.executable, "-m", "tidegate"], os.environ["PATH"]
    if os.geteuid() == 0 and open_python() is not None:
        programs, command, path = for_others(programs, CLAUDE.agent, open_folder / "agent"), tidegate(), SYSTEM_PATH
    script, requests = open_folder / "script.json", open_folder / "requests.json"
    script.write_text(json.dumps({"steps": SCRIPT, "refused": None}))

    def run_it(*arguments: str) -> tuple[int, str, int]:
        done = subprocess.run(
            [sys.executable, str(ALONE), str(script), str(requests), *command, *arguments],
            cwd=open_folder / "repository",
            env={**os.environ, **KEYS, "PATH": f"{programs}:{path}"},
            capture_output=True,
            text=True,
            timeout=200,
            check=False,
        )
        return done.returncode, done.stdout + done.stderr, len(json.loads(requests.read_text()))

    return run_it


def test_only_what_agents_would_notice_is_asked_of_the_model(
    run: Callable[..., tuple[int, str, int]], open_folder: Path
) -> None:
    repo = Repository(open_folder / "repository")
    example(repo.root, CLAUDE.written)
    suite = (repo.root / "tidegate.yaml").read_text()
    tool = (repo.root / "taskmgr/cli.py").read_text()
    guide = (repo.root / "AGENTS.md").read_text()
    repo.commit({"tidegate.yaml": suite + "policy: {replay: {use: skip, spot_checks: 0}}\n"})
    repo.branch("refactor", {"taskmgr/cli.py": f"# The command line.\n{tool}"})
    repo.branch("renamed", {"taskmgr/cli.py": tool.replace('"--priority"', '"--prio", dest="priority"')})
    repo.branch("help", {"taskmgr/cli.py": tool.replace("how soon it is needed", "how urgent it is")})
    repo.branch("guidance", {"AGENTS.md": guide + "\nBe quick.\n"})
    code, said, asked = run("run", "--rev", "main", "--history", "--trials", "3")
    assert (code, asked > 0) == (0, True), said

    code, said, asked = run("pr", "--base", "main", "--head", "refactor", "--out", str(open_folder / "out"))

    (row,) = json.loads((open_folder / "out/result.json").read_text())["rows"]
    assert (code, asked, row["state"], row["replay"]["same"]) == (0, 0, "unchanged", 3), f"{said}\n{row}"
    assert "1 row unchanged" in (open_folder / "out/comment.md").read_text().replace("1 of 1 row", "1 row")
    for branch, first in {
        "renamed": "$ taskmgr add --help",
        "help": "$ taskmgr add --help",
        "guidance": "the guidance files",
    }.items():
        code, said, asked = run("replay", "--base", "main", "--rev", branch)
        assert (code, asked) == (1, 0), said
        assert f"first difference: {first}" in said, said
