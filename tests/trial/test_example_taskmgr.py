"""The example's tool does what its README says."""

from __future__ import annotations

import json
import shlex
import subprocess
from pathlib import Path

import pytest

EXAMPLE = Path(__file__).parents[2] / "examples" / "taskmgr"


def taskmgr(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [EXAMPLE / "bin" / "taskmgr", *arguments], cwd=folder, capture_output=True, text=True, check=False
    )


def console_block(page: Path) -> list[tuple[str, list[str]]]:
    """The commands of a page's first console block, each with the output that the page promises."""
    block = page.read_text(encoding="utf-8").split("```console\n", 1)[1].split("```", 1)[0]
    commands: list[tuple[str, list[str]]] = []
    for line in block.splitlines():
        if line.startswith("$ "):
            commands.append((line.removeprefix("$ "), []))
        else:
            commands[-1][1].append(line)
    return commands


@pytest.mark.parametrize("page", ["README.md", "AGENTS.md"])
def test_the_examples_in_the_docs_print_what_they_say(page: str, tmp_path: Path) -> None:
    for command, expected in console_block(EXAMPLE / page):
        program, *arguments = shlex.split(command.partition(" > ")[0])
        done = taskmgr(tmp_path, *arguments)

        assert program == "taskmgr"
        assert done.returncode == 0, command
        if ">" not in command:
            assert done.stdout.splitlines() == expected, command


def test_export_prints_all_that_is_known(tmp_path: Path) -> None:
    taskmgr(tmp_path, "add", "first")
    taskmgr(tmp_path, "add", "--priority", "high", "second")
    taskmgr(tmp_path, "link", "2", "1")
    taskmgr(tmp_path, "done", "1")

    exported = taskmgr(tmp_path, "export", "--format", "json").stdout

    assert json.loads(exported) == {
        "tasks": [
            {"id": 1, "title": "first", "priority": "normal", "done": True, "waits_for": []},
            {"id": 2, "title": "second", "priority": "high", "done": False, "waits_for": [1]},
        ]
    }
    assert taskmgr(tmp_path, "list", "--format", "json").stdout == exported
