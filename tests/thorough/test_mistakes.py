"""Configuration mistakes: one line with place and advice, and exit code 2, before any agent runs."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.journeys.conftest import FILES

Make = Callable[..., Any]
SCENARIO = FILES["scenarios/keep.yaml"]


@pytest.mark.parametrize(
    ("file", "text", "line"),
    [
        ("scenarios/keep.yaml", SCENARIO + "descripton: x\n", r"keep\.yaml:9:1: .*unknown key.*did you mean"),
        (
            "scenarios/keep.yaml",
            SCENARIO.replace("--version}", "--version, env: {T: '${NOT_SET}'}}"),
            r"keep\.yaml:3:\d+: .*NOT_SET",
        ),
    ],
    ids=["unknown key", "variable"],
)
def test_a_mistake_is_one_line_with_its_place(pull_request: Make, file: str, text: str, line: str) -> None:
    ran = pull_request(FILES, {file: text})

    assert ran.code == 2
    assert [found for found in ran.stderr.splitlines() if re.search(line, found)], ran.stderr
    assert "Traceback" not in ran.stderr
    assert not (ran.out / "runs" / "head").exists()


def test_a_commit_does_not_say_where_we_write(make_repository: Make, tidegate: Make, tmp_path: Path) -> None:
    repo = make_repository()
    (tmp_path / "theirs").mkdir()
    (repo.root / ".tidegate").symlink_to(tmp_path / "theirs")
    repo.commit(FILES)
    repo.git("add", "--force", ".tidegate")
    repo.git("commit", "--quiet", "--amend", "--no-edit")

    ran = tidegate("run", cwd=repo.root)

    assert ran.code == 2
    assert ".tidegate is a link or a submodule that is part of the commit" in ran.stderr
    assert list((tmp_path / "theirs").iterdir()) == []


def test_nor_does_a_commit_that_is_not_checked_out(make_repository: Make, tidegate: Make, tmp_path: Path) -> None:
    repo = make_repository()
    (tmp_path / "theirs").mkdir()
    repo.commit(FILES | {"tidegate.yaml": FILES["tidegate.yaml"] + "build: ['true']\n"})
    repo.branch("pr", {"README.md": "x\n"})
    (repo.root / ".tidegate").symlink_to(tmp_path / "theirs")
    repo.git("add", "--force", ".tidegate")
    repo.git("commit", "--quiet", "--amend", "--no-edit")
    repo.git("checkout", "--quiet", "main")

    ran = tidegate("pr", "--head", "pr", cwd=repo.root)

    assert (ran.code, ".tidegate is a link in its commit" in ran.comment) == (1, True), ran.stderr
    assert list((tmp_path / "theirs").iterdir()) == []


@pytest.mark.parametrize(
    ("arguments", "code", "line"),
    [
        (("run", "--out", "bin/notes"), 2, "bin/notes is not an empty folder"),
        (("run", "--out", "bin"), 2, "bin is not an empty folder"),
        (("run", "--out", "bin/notes/x"), 4, "bin/notes/x: Not a directory"),
        (("pr", "--head", "pr", "--junit", "bin"), 2, "bin is a folder"),
        (("run", "--trials", "10001"), 2, "must be at most 10000"),
        (("add", "/dev/zero"), 2, "/dev/zero is neither the folder of a stored trial nor a transcript"),
    ],
)
def test_what_the_machine_refuses_is_no_bug_of_ours(
    make_repository: Make, tidegate: Make, arguments: tuple[str, ...], code: int, line: str
) -> None:
    repo = make_repository()
    repo.commit(FILES)
    repo.branch("pr", {"bin/notes": "#!/bin/sh"})
    repo.git("checkout", "--quiet", "main")

    ran = tidegate(*arguments, cwd=repo.root)

    assert ran.code == code
    assert line in ran.stderr
    assert "Traceback" not in ran.stderr
