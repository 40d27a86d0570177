"""What is compared is what is committed: files of the suite that git does not have are named."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from tests.conftest import Repository
from tests.journeys.conftest import AGENTS_MD, FILES, SCENARIO

Make = Callable[..., Any]
IN_TEMPLATE = SCENARIO.replace("target:", "template_folder: state\ntarget:")
IGNORED = "git ignores scenarios/state/seed.db: missing from every checkout."


@pytest.fixture
def repo(make_repository: Make) -> Repository:
    """A suite whose template has a file that git ignores, and a scenario that nobody has added."""
    made: Repository = make_repository()
    made.commit({**FILES, "scenarios/keep.yaml": IN_TEMPLATE, "scenarios/state/readme": "x\n", ".gitignore": "*.db\n"})
    made.branch("pr", {"AGENTS.md": AGENTS_MD + "x\n"})
    made.write({"scenarios/state/seed.db": "x\n", "scenarios/new.yaml": SCENARIO.replace("keep_notes", "new")})
    made.write({"scenarios/state/__pycache__/x.pyc": "x\n"})
    return made


def test_check_names_them(repo: Repository, tidegate: Make) -> None:
    said = tidegate("check", cwd=repo.root).stdout

    assert IGNORED in said
    assert "git does not track scenarios/new.yaml: missing from every checkout." in said
    assert "x.pyc" not in said


def test_pr_says_which_submodules_it_does_not_check_out(repo: Repository, tidegate: Make) -> None:
    repo.git("update-index", "--add", "--cacheinfo", f"160000,{repo.git('rev-parse', 'HEAD')},vendor/core")
    repo.git("commit", "--quiet", "--message", "submodule")

    ran = tidegate("pr", "--base", "main", "--head", "pr", "--pause", "0", cwd=repo.root)

    assert "⚠️ Submodules are not checked out: vendor/core." in ran.comment


def test_a_suite_that_is_committed_has_nothing_to_name(make_repository: Make, tidegate: Make) -> None:
    whole: Repository = make_repository()
    whole.commit(FILES)

    assert "git" not in tidegate("check", cwd=whole.root).stdout.replace("tidegate", "")


def test_init_names_what_git_ignores(make_repository: Make, tidegate: Make) -> None:
    made: Repository = make_repository()
    made.commit({"bin/notes": FILES["bin/notes"], "AGENTS.md": AGENTS_MD, ".gitignore": "scenarios/\n"})

    ran = tidegate("init", cwd=made.root)

    assert ran.code == 0, ran.stderr
    assert "git ignores scenarios/help.yaml and 2 more, which every checkout then lacks" in ran.stdout
