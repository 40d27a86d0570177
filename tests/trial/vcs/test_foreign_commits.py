"""Which commits the target branch does not have."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from tests.conftest import Repository
from tidegate.vcs.revisions import ForeignCommits, merge_base, resolve


@pytest.fixture
def repo(tmp_path: Path) -> Repository:
    """Main with an older and a newer commit, and the branch `pr`, which begins at the older one and was amended."""
    repo = Repository(tmp_path / "repo")
    repo.commit({"a": "1"})
    repo.git("branch", "pr")
    repo.commit({"a": "2"})
    repo.commit({"b": "1"}, on="pr")
    repo.git("tag", "before")
    repo.git("commit", "--quiet", "--amend", "--message", "again")
    return repo


def foreign(root: Path) -> ForeignCommits:
    base, head = resolve(root, "main"), resolve(root, "pr")
    return ForeignCommits(root, merge_base(root, base, head), head)


@pytest.mark.parametrize(("name", "is_foreign"), [("main", False), ("main~1", False), ("pr", True), ("before", True)])
def test_commits_that_the_target_branch_does_not_have_are_foreign(
    repo: Repository, name: str, is_foreign: bool
) -> None:
    assert (repo.git("rev-parse", name) in foreign(repo.root)) is is_foreign


def test_a_commit_that_is_gone_is_foreign(repo: Repository) -> None:
    assert "0" * 40 in foreign(repo.root)


def test_a_shallow_clone_lacks_commits_of_the_target_branch_too(repo: Repository, tmp_path: Path) -> None:
    clone = tmp_path / "clone"
    source = f"file://{repo.root}"
    subprocess.run(["git", "clone", "--quiet", "--depth=2", "--branch=pr", source, clone], check=True)
    subprocess.run(["git", "-C", clone, "branch", "main", "HEAD~1"], check=True)

    assert "0" * 40 not in foreign(clone)
    assert repo.git("rev-parse", "pr") in foreign(clone)
