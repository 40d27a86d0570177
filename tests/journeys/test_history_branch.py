"""`store: {type: branch}` in a local repository, as a person uses it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from tests.conftest import Repository
from tests.journeys.conftest import FILES

Make = Callable[..., Any]
BRANCH = "tidegate-history"
SUITE = """\
version: 1
scenarios: [scenarios/*.yaml]
path: [bin]
store: {type: branch}
agents:
  fake: {type: scripted, deterministic: false, steps: {keep_notes: [notes add first, notes add second]}}
"""


@pytest.fixture
def repo(make_repository: Make, tidegate: Make) -> Repository:
    """With ten trials of base on the branch."""
    made: Repository = make_repository()
    made.commit({**FILES, "tidegate.yaml": SUITE})
    fed = tidegate("run", "--rev", "main", "--history", "--trials", "10", cwd=made.root)
    assert fed.code == 0, fed.stderr
    assert f"base's history is kept on the branch `{BRANCH}`, which is yours to push" in fed.stderr
    made.branch("pr", {"bin/notes": FILES["bin/notes"] + "# changed\n"})
    return made


def pr(tidegate: Make, repo: Repository) -> Any:
    return tidegate("pr", "--base", "main", "--head", "pr", "--pause", "0", cwd=repo.root)


def test_what_is_on_the_branch_need_not_be_run_and_a_pull_request_adds_nothing(
    repo: Repository, tidegate: Make
) -> None:
    before = repo.git("rev-parse", BRANCH)

    ran = pr(tidegate, repo)

    assert ran.code == 0, ran.stderr
    assert ran.result["cost"]["trials"] == {"base": 0, "head": 3}
    assert ran.result["sides"]["base"]["history_trials"] == 10
    assert repo.git("rev-parse", BRANCH) == before
    assert repo.git("status", "--porcelain") == ""
