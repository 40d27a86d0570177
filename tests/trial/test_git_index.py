"""What git takes for changed, by an index in which the states of files are other ones."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as some

from tidegate.trial.git_index import blobs, with_states

NAMES = ("AGENTS.md", "docs/a.md", "docs/a.md.txt", "docs/äöü.md", "z")


def git(folder: Path, *arguments: str) -> str:
    command = ["git", "-c", "user.name=n", "-c", "user.email=e", "-c", "core.quotePath=off", *arguments]
    return subprocess.run(command, cwd=folder, check=True, capture_output=True, text=True).stdout


@pytest.fixture(params=["2", "3", "4"])
def repo(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    """A repository with an index of each version that git writes."""
    git(tmp_path, "init", "--quiet")
    for name in NAMES:
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text("of the commit")
    git(tmp_path, "add", ".")
    git(tmp_path, "commit", "--quiet", "--message=x")
    if request.param == "3":  # the one that has what this adds
        (tmp_path / "later").touch()
        git(tmp_path, "add", "--intent-to-add", "later")
        git(tmp_path, "update-index", "--skip-worktree", "later")
    git(tmp_path, "update-index", "--index-version", request.param)
    assert (tmp_path / ".git/index").read_bytes()[7] == int(request.param)
    return tmp_path


def put(repo: Path, *names: str, assumed: bool | None = None) -> None:
    """Write the states of these files into the index."""
    index = repo / ".git/index"
    states = {name: (repo / name).lstat() for name in names} if assumed is None else {}
    index.write_bytes(with_states(index.read_bytes(), states, {} if assumed is None else dict.fromkeys(names, assumed)))


def test_a_file_in_the_state_of_the_index_is_unchanged_until_it_is_written_to(repo: Path) -> None:
    for name in NAMES[:-1]:
        (repo / name).write_text("another text")
        os.utime(repo / name, (946_684_800, 946_684_800))  # git compares files as new as its index
    put(repo, *NAMES[:-1])
    assert git(repo, "diff", "--name-only") == ""
    (repo / "docs/a.md").write_text("changed text")  # as long
    assert git(repo, "diff", "--name-only") == "docs/a.md\n"
    git(repo, "commit", "--quiet", "--all", "--message=y")
    assert git(repo, "show", "--name-only", "--format=") == "docs/a.md\n"


def test_a_file_that_is_missing_is_unchanged_as_long_as_that_is_assumed(repo: Path) -> None:
    (repo / "docs/äöü.md").unlink()
    put(repo, "docs/äöü.md", assumed=True)
    assert git(repo, "diff", "--name-only") == ""
    put(repo, "docs/äöü.md", assumed=False)
    assert git(repo, "diff", "--name-only") == "docs/äöü.md\n"


def test_an_index_of_which_nothing_is_changed_stays_as_it_is(repo: Path) -> None:
    index = (repo / ".git/index").read_bytes()
    assert with_states(index, {"no-such-file": repo.lstat()}) == index
    assert blobs(index).keys() >= {*NAMES}


@given(some.binary(max_size=200), some.sampled_from([2, 3, 4]), some.integers(0, 2**32 - 1))
def test_an_index_that_cannot_be_read_has_no_files(rest: bytes, version: int, count: int) -> None:
    for index in (rest, b"DIRC" + version.to_bytes(4, "big") + max(count, 4).to_bytes(4, "big") + rest):
        assert blobs(index) == {}
        assert len(with_states(index, {"a": Path().lstat()})) == len(index)
