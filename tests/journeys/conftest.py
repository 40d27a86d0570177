"""The program as a person runs it, on a repository with a tool of its own."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import Repository
from tests.warm import run_tidegate

NOTES = """\
#!/bin/sh
# notes: keeps lines of text in ./notes.txt
case "$1" in
  add) shift; [ -n "$1" ] || { echo "notes: add needs a TEXT" >&2; exit 2; }; echo "$1" >> notes.txt ;;
  list) [ -f notes.txt ] && cat notes.txt; exit 0 ;;
  count) wc -l < notes.txt ;;
  --version) echo "notes 1.0" ;;
  --help) echo "usage: notes add TEXT | list | count" ;;
  *) echo "notes: unknown command: $1" >&2; exit 2 ;;
esac
"""
SUITE = """\
version: 1
scenarios: [scenarios/*.yaml]
path: [bin]
agents:
  docs: {type: doc-follower}
"""
SCENARIO = """\
name: keep_notes
description: Two notes are kept.
target: {binary: notes, health_check: notes --version}
task: Add two notes as AGENTS.md says.
evaluation:
  gates:
    - {type: file_contains, path: notes.txt, substring: first}
    - {type: command_output_matches, command: notes list, pattern: second}
"""
# Passes with any tool that has a version.
VERSION = """\
name: version
description: The version is printed.
target: {binary: notes}
task: Print the version.
evaluation: {gates: [{type: command_succeeds, command: notes --version}]}
"""
AGENTS_MD = """\
# Notes

```console
$ notes add first
$ notes add second
```
"""
FILES = {
    "bin/notes": NOTES,
    "tidegate.yaml": SUITE,
    "scenarios/keep.yaml": SCENARIO,
    "AGENTS.md": AGENTS_MD,
}


BY_CHANCE = """\
version: 1
scenarios: [scenarios/*.yaml]
path: [bin]
watch: [bin/**]
MOREagents:
  fake:
    type: scripted
    seed: SEED
    steps:
"""
KEEPS_ONE = """\
name: NAME
description: A note is kept.
target: {binary: notes}
task: Add a note.
evaluation: {gates: [{type: file_contains, path: notes.txt, substring: first}]}
"""


def by_chance(repo: Repository, chances: Mapping[str, float], *, seed: int, more: str = "", slow: str = "") -> None:
    """Commit scenarios that run `notes maybe` with these chances: harmless on base, it spoils the notes on head.

    `more` is added to the suite; `slow` is what `notes maybe` does first.
    """
    steps = "".join(
        f"      {name}: [notes add first, notes add second, {{run: notes maybe, probability: {chance}}}]\n"
        for name, chance in chances.items()
    )
    suite = BY_CHANCE.replace("SEED", str(seed)).replace("MORE", more) + steps
    scenarios = {f"scenarios/{name}.yaml": KEEPS_ONE.replace("NAME", name) for name in chances}
    repo.commit({"bin/notes": NOTES.replace("  add)", "  maybe) ;;\n  add)"), "tidegate.yaml": suite, **scenarios})
    repo.branch("pr", {"bin/notes": NOTES.replace("  add)", f"  maybe) {slow} rm notes.txt ;;\n  add)")})
    repo.git("checkout", "--quiet", "main")


class Ran:
    """A finished `tidegate`."""

    def __init__(self, done: subprocess.CompletedProcess[str], out: Path) -> None:
        self.code = done.returncode
        self.stdout = done.stdout
        self.stderr = done.stderr
        self.out = out

    @property
    def result(self) -> dict[str, Any]:
        """result.json."""
        loaded: dict[str, Any] = json.loads((self.out / "result.json").read_text())
        return loaded

    @property
    def comment(self) -> str:
        """comment.md."""
        return (self.out / "comment.md").read_text()

    def row(self, scenario: str, agent: str = "docs") -> dict[str, Any]:
        """One row of result.json."""
        return next(row for row in self.result["rows"] if (row["scenario"], row["agent"]) == (scenario, agent))


def start(out: Path, command: str, *arguments: str, cwd: Path, env: dict[str, str] | None = None) -> Ran:
    """Run `tidegate COMMAND …` as its own process; `out` is passed on for `pr`."""
    extra = ["--out", str(out)] if command == "pr" else []
    return Ran(run_tidegate(command, *extra, *arguments, cwd=cwd, env={**os.environ, **(env or {})}), out)


@pytest.fixture
def tidegate(tmp_path: Path) -> Callable[..., Ran]:
    """Runs `tidegate COMMAND …` as its own process; `out` is passed on for `pr`."""
    return partial(start, tmp_path / "out")


@pytest.fixture
def pull_request(make_repository: Callable[[str], Repository], tidegate: Callable[..., Ran]) -> Callable[..., Ran]:
    """Commits base's files, and what a branch changes, and runs `tidegate pr` there."""

    def compared(
        base: Mapping[str, str], head: Mapping[str, str | None], *options: str, name: str = "repo", **more: Any
    ) -> Ran:
        repo = make_repository(name)
        repo.commit(base)
        repo.branch("pr", head)
        return tidegate("pr", "--quiet", "--pause", "0", *options, cwd=repo.root, **more)

    return compared
