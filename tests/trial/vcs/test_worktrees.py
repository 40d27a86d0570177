"""A worktree with a repository of its own."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.conftest import Repository
from tidegate.model.revision import Revision
from tidegate.trial.safe_files import remove_trees
from tidegate.vcs.git import git, must
from tidegate.vcs.worktrees import checkout, rejoin, separate


@pytest.fixture
def worktree(tmp_path: Path) -> Iterator[Path]:
    """A separate worktree of the second of two commits; the first is tagged. A colon ends a name in a list of git's."""
    repo = Repository(tmp_path / "é 12:30")
    repo.commit({"tool": "old\n", "kept": "kept\n"})
    repo.git("tag", "--annotate", "--message", "first", "v1")
    repo.commit({"tool": "new\n"})
    repo.git("remote", "add", "origin", "https://example.com/a")
    folder = tmp_path / "worktree"
    commit = Revision(sha=repo.git("rev-parse", "HEAD"), ref="main")
    with checkout(repo.root, commit, folder):
        separate(folder)
        repo.root.rename(tmp_path / "gone")
        yield folder
        (tmp_path / "gone").rename(repo.root)


def test_it_knows_its_version_and_that_nothing_is_changed(worktree: Path) -> None:
    assert must(worktree, "describe", "--dirty").startswith("v1-1-g")
    assert must(worktree, "status", "--porcelain") == ""


def test_it_knows_where_it_was_cloned_from(worktree: Path) -> None:
    assert must(worktree, "remote", "get-url", "origin") == "https://example.com/a"


def test_it_knows_its_history_of_names(worktree: Path) -> None:
    assert len(must(worktree, "log", "--format=%h", "--name-only", "--", "tool").split()) == 4


def test_it_has_the_files_of_its_commit_alone(worktree: Path) -> None:
    assert must(worktree, "show", "HEAD:tool", "HEAD:kept").split() == ["new", "kept"]
    assert git(worktree, "show", "v1:tool").returncode != 0


@pytest.mark.parametrize("replaced", [False, True], ids=["left alone", "replaced by the build"])
def test_after_the_build_it_is_a_worktree_again(tmp_path: Path, replaced: bool) -> None:
    repo = Repository(tmp_path / "repo")
    commit = Revision(sha=repo.commit({"tool": "new\n"}), ref="main")
    with checkout(repo.root, commit, tmp_path / "worktree") as folder:
        before = separate(folder)
        victim = tmp_path / "victim"
        victim.write_text("kept")
        if replaced:
            (folder / ".git").rename(tmp_path / "moved")
            (folder / ".git").symlink_to(victim)
        remove_trees(folder / ".git")
        rejoin(folder, before)
        assert (folder / ".git").is_file()
        assert must(folder, "rev-parse", "HEAD") == commit.sha
        assert victim.read_text() == "kept"
