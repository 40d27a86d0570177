"""Recorded sessions with an MCP server are replayed on later commits, as long as base describes its tools alike."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.conftest import Repository
from tests.warm import run_tidegate

SERVER = (Path(__file__).parents[1] / "mcp_server.py").read_text()
SUITE = """\
version: 1
scenarios: [keep.yaml]
path: [bin]
target: {mcp: {name: shelf, command: shelf-server}}
agents:
  fake:
    type: scripted
    deterministic: false
    steps: {keep: [{call: add, input: {title: tide}}, {call: add, input: {title: ebb}}]}
"""
SCENARIO = """\
name: keep
description: Titles are kept.
target: from_config
task: Keep two titles.
evaluation: {gates: [{type: file_contains, path: titles.txt, substring: ebb}]}
"""
CHANGES = {
    "refactor": ("# ", 'text(f"added {title}")', 'text("added " + title)'),
    "renamed": ("tools/list", '"put" if "renamed" in QUIRKS else "add"', '"put"'),
    "schema": ("tools/list", '"title": {"type": "string"}', '"title": {"type": "string", "maxLength": 9}'),
    "description": ("tools/list", '"description": f"{name}s it"', '"description": f"{name}s one"'),
    "result": ("mcp__shelf__add", 'text(f"added {title}")', 'text(f"kept {title}")'),
}


def branch(repo: Repository, name: str, old: str, new: str) -> None:
    assert old in SERVER
    repo.branch(name, {"bin/shelf-server": program(SERVER.replace(old, new))})


def program(text: str) -> str:
    return f"#!/usr/bin/env python3\n{text}"


@pytest.fixture(scope="module")
def repo(tmp_path_factory: pytest.TempPathFactory) -> Repository:
    """Sessions are recorded on main, which has another commit since; one branch for each change."""
    made = Repository(tmp_path_factory.mktemp("r") / "repo")
    made.commit({"tidegate.yaml": SUITE, "keep.yaml": SCENARIO, "bin/shelf-server": program(SERVER)})
    fed = run_tidegate("run", "--rev", "main", "--history", "--trials", "3", cwd=made.root)
    assert fed.returncode == 0, fed.stderr
    made.commit({"bin/shelf-server": program(f"# A later commit.\n{SERVER}")})
    for name, (_, old, new) in CHANGES.items():
        branch(made, name, old, new)
    return made


def replayed(repo: Repository, name: str, base: str = "main") -> tuple[int, str]:
    done = run_tidegate("replay", "--base", base, "--rev", name, cwd=repo.root)
    return done.returncode, done.stdout + done.stderr


def test_a_refactor_shows_the_same(repo: Repository) -> None:
    code, said = replayed(repo, "refactor")
    assert code == 0, said
    assert "3 of 3 sessions show the same" in said


@pytest.mark.parametrize("change", [name for name in CHANGES if name != "refactor"])
def test_what_agents_would_see_of_the_server_is_a_difference(repo: Repository, change: str) -> None:
    code, said = replayed(repo, change)
    assert code == 1, said
    assert f"first difference: {CHANGES[change][0]}" in said


def test_sessions_of_a_base_with_other_tools_do_not_count(repo: Repository) -> None:
    """The base is a commit of main after the sessions, which describes its tools in another way."""
    repo.git("checkout", "-q", "-b", "later", "description")
    repo.commit({"README.md": "later"})
    repo.git("checkout", "-q", "-b", "on-later")
    repo.commit({"README.md": "more"})
    code, said = replayed(repo, "on-later", base="later")
    assert "the server's tools are described in another way than when it was recorded" in said, (code, said)
