"""Sessions of the real Claude Code, recorded on main, decide which rows of a pull request need the model."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from tests.conftest import Repository, open_to_others
from tests.thorough.real_agents.agents import CASES, KEYS, Script, example
from tests.thorough.real_agents.conftest import ALONE, Started
from tidegate.agents.coding import CodingAgent

CLAUDE = CASES[0]
# What the model does for each prompt. Only `urgent` uses the option, and only `report` reads a help text.
SCRIPTS: dict[str, Script] = {
    "which are urgent": [
        ("Add them.", ['taskmgr add "Orders are lost" --priority high', 'taskmgr add "Send the mail"']),
        ("Look.", ["taskmgr list --format json | head -c 300"]),
        ("That was all.", []),
    ],
    "for another program": [
        ("Look at the help.", ["taskmgr export --help"]),
        ("Write it.", ["taskmgr export > report.json"]),
        ("Go on.", ["mkdir -p notes && cd notes && pwd && date", "ls -la .. | head -n 20"]),
        ("Look.", ["cd .. && head -c 40 report.json"]),
        ("That was all.", []),
    ],
}
URGENT = """\
name: urgent
description: Write down what is urgent.
target: from_config
task: Write down the tasks of today, and which are urgent.
evaluation: {gates: [{type: command_output_contains, command: taskmgr list, substring: Orders are lost (high)}]}
"""
REPORT = """\
name: report
description: Hand the tasks over.
target: from_config
setup: {commands: [taskmgr add "Tag the release"]}
task: Write the tasks to report.json, for another program.
evaluation: {gates: [{type: file_contains, path: report.json, substring: Tag the release}]}
"""
BOTH = {"urgent", "report"}


class Compared(NamedTuple):
    """A pull request: exit code, its rows in `result.json`, how often the model was asked, and the comment."""

    code: int
    rows: dict[str, dict[str, Any]]
    asked: int
    comment: str

    @property
    def with_agents(self) -> set[str]:
        """The rows that agents were run for."""
        return {name for name, row in self.rows.items() if row["head"] and row["head"]["trials"]}


class Main(NamedTuple):
    """A repository whose main has three recorded sessions of each row, and how to run Tidegate in it."""

    repository: Repository
    run: Callable[..., tuple[int, str, int]]

    def compare(self, name: str, path: str, old: str, new: str) -> Compared:
        """Compare main with a branch that replaces a text of a file."""
        self.repository.git("checkout", "--quiet", "main")
        text = (self.repository.root / path).read_text()
        assert old in text
        self.repository.branch(name, {path: text.replace(old, new)})
        out = self.repository.root.parent / name
        code, said, asked = self.run(
            *("pr", "--base", "main", "--head", name, "--pause", "0", "--jobs", "4"), "--out", str(out)
        )
        assert (out / "result.json").exists(), said
        rows = {row["scenario"]: row for row in json.loads((out / "result.json").read_text())["rows"]}
        return Compared(code, rows, asked, (out / "comment.md").read_text())


@pytest.fixture(scope="module")
def main(started: Callable[[type[CodingAgent]], Started]) -> Iterator[Main]:
    """Main, with the sessions that the model was asked for."""
    with open_to_others() as folder:
        yield with_sessions(folder, started(CLAUDE.agent))


def with_sessions(folder: Path, started: Started) -> Main:
    """Make the repository, and record sessions of its main."""
    command, path = started
    script, requests = folder / "script.json", folder / "requests.json"
    script.write_text(json.dumps({"steps": [], "scripts": SCRIPTS, "refused": None}))

    def run(*arguments: str) -> tuple[int, str, int]:
        done = subprocess.run(
            [sys.executable, str(ALONE), str(script), str(requests), *command, *arguments],
            cwd=folder / "repository",
            env={**os.environ, **KEYS, "PATH": path},
            capture_output=True,
            text=True,
            timeout=300,
            check=False,
        )
        return done.returncode, done.stdout + done.stderr, len(json.loads(requests.read_text()))

    repository = Repository(folder / "repository")
    example(repository.root, CLAUDE.written)
    shutil.rmtree(repository.root / "scenarios")
    suite = (repository.root / "tidegate.yaml").read_text().replace("create_tasks.yaml", "*.yaml")
    suite += "policy: {preset: quick, replay: {use: skip, spot_checks: 0}}\n"
    repository.commit({"tidegate.yaml": suite, "scenarios/urgent.yaml": URGENT, "scenarios/report.yaml": REPORT})
    code, said, asked = run("run", "--rev", "main", "--history", "--trials", "3", "--jobs", "4")
    assert (code, asked > 0) == (0, True), said
    return Main(repository, run)


def test_a_refactoring_asks_the_model_nothing(main: Main) -> None:
    ran = main.compare("refactor", "taskmgr/cli.py", '"""The command line', '"""All of the command line')

    assert (ran.code, ran.asked) == (0, 0), [row["replay"]["left_out"] for row in ran.rows.values()]
    assert {name: (row["state"], row["replay"]["same"]) for name, row in ran.rows.items()} == {
        "urgent": ("unchanged", 3),
        "report": ("unchanged", 3),
    }
    assert "2 of 2 rows unchanged" in ran.comment


def test_a_renamed_option_is_run_where_it_is_used(main: Main) -> None:
    ran = main.compare("renamed", "taskmgr/cli.py", '"--priority"', '"--prio", dest="priority"')

    assert (ran.code, ran.with_agents) == (1, {"urgent"}), ran.comment
    assert (ran.rows["urgent"]["state"], ran.rows["report"]["state"]) == ("regressed", "unchanged")
    assert ran.rows["urgent"]["replay"]["why_run"] == 'differs at `$ taskmgr add "Orders are lost" --priority high`'


def test_a_changed_help_text_is_run_where_sessions_read_it(main: Main) -> None:
    ran = main.compare("help", "taskmgr/cli.py", "Print the whole list for other programs", "Print all tasks")

    assert (ran.code, ran.with_agents) == (0, {"report"}), ran.comment
    assert (ran.rows["urgent"]["state"], ran.rows["report"]["state"]) == ("unchanged", "ok")
    assert ran.rows["report"]["replay"]["why_run"] == "differs at `$ taskmgr export --help`"


def test_changed_guidance_is_run_everywhere(main: Main) -> None:
    ran = main.compare("guidance", "AGENTS.md", "Write a task down", "Be quick. Write a task down")

    assert (ran.code, ran.with_agents) == (0, BOTH), ran.comment
    assert {row["replay"]["why_run"] for row in ran.rows.values()} == {"differs at `the guidance files`"}
