"""What a command says if it cannot do what was asked: where the fault is, also for programs."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

from tests.journeys.conftest import FILES

Make = Callable[..., Any]


def test_the_usual_names_of_the_target_branch_are_hints_for_each_other(make_repository: Make, tidegate: Make) -> None:
    repo = make_repository()
    repo.commit(FILES)
    done = tidegate("pr", "--base", "master", cwd=repo.root)
    assert (done.code, "(did you mean `main`?)" in done.stderr) == (2, True)


def test_a_base_that_is_ahead_is_not_said_to_be_at_the_same_commit(make_repository: Make, tidegate: Make) -> None:
    repo = make_repository()
    repo.commit(FILES)
    repo.branch("later", {"README.md": "x\n"})
    done = tidegate("pr", "--base", "later", "--head", "main", "--json", cwd=repo.root)
    assert done.code == 3
    assert "base is ahead of it." in done.stderr
    said = json.loads(done.stdout)
    assert said["exit_code"] == 3
    assert "has no commits that base (`later`) lacks" in said["error"]


def test_view_without_a_run_needs_a_stored_one(make_repository: Make, tidegate: Make) -> None:
    repo = make_repository()
    repo.commit(FILES)
    done = tidegate("view", "--no-browser", cwd=repo.root)
    assert (done.code, "no run is stored in" in done.stderr) == (2, True)


@pytest.mark.parametrize("command", [("pr", "--base", "main"), ("check",), ("run",)])
def test_a_folder_without_a_suite_says_what_to_do(make_repository: Make, tidegate: Make, command: tuple[str]) -> None:
    repo = make_repository()
    repo.commit({"README.md": "x"})
    repo.branch("pr", {"README.md": "y"})

    ran = tidegate(*command, cwd=repo.root)

    assert ran.code == 2
    assert "tidegate.yaml" in ran.stderr
    assert "Traceback" not in ran.stderr


def test_head_that_is_base_is_said_and_keeps_the_last_run(make_repository: Make, tidegate: Make) -> None:
    repo = make_repository()
    repo.commit(FILES)
    repo.branch("pr", {"AGENTS.md": FILES["AGENTS.md"] + "more\n"})
    last = tidegate("pr", cwd=repo.root)
    repo.git("switch", "--quiet", "main")

    same = tidegate("pr", cwd=repo.root)
    assert (same.code, "has no commits that base" in same.stderr, "Check out the branch" in same.stderr) == (
        3,
        True,
        True,
    )
    repo.write({"AGENTS.md": "Changed.\n"})
    assert "not committed are not compared" in tidegate("pr", cwd=repo.root).stderr
    assert (last.out / "result.json").exists()
    assert (last.out / "runs/head/run.json").exists()


def test_a_suite_that_is_not_committed_is_said_to_be_so(make_repository: Make, tidegate: Make) -> None:
    repo = make_repository()
    repo.commit({"bin/notes": FILES["bin/notes"]})
    repo.branch("pr", {"README.md": "x"})
    repo.write(FILES)

    ran = tidegate("pr", "--base", "main", cwd=repo.root)

    assert (ran.code, "tidegate.yaml is not committed on head" in ran.stderr) == (2, True), ran.stderr


def test_changes_that_are_not_committed_are_named_at_the_end(make_repository: Make, tidegate: Make) -> None:
    repo = make_repository()
    repo.commit(FILES)
    repo.branch("pr", {"AGENTS.md": FILES["AGENTS.md"] + "more\n"})
    repo.write({"bin/notes": "other"})

    ran = tidegate("pr", "--quiet", cwd=repo.root)

    assert ran.stderr.splitlines()[-1].startswith("not compared: the working tree has changes")
