"""What a command says if it cannot do what was asked: where the fault is, also for programs."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

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
