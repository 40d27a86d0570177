"""Commits, checkouts and changed files, with real git."""

from __future__ import annotations

import glob
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tidegate.errors import ConfigurationError
from tidegate.vcs.revisions import (
    branch_name,
    changed_files,
    checked_out_sides,
    default_base,
    lines_with,
    merge_base,
    repository_root,
    resolve,
    working_tree,
)
from tidegate.vcs.worktrees import checkout

Make = Callable[..., Any]


def test_base_is_where_head_left_it_not_where_it_is_now(make_repository: Make) -> None:
    repo = make_repository()
    start = repo.commit({"a": "1"})
    repo.branch("pr", {"b": "1"})
    repo.commit({"a": "2"}, on="main")

    base = merge_base(repo.root, resolve(repo.root, "main"), resolve(repo.root, "pr"))

    assert (base.sha, base.ref) == (start, "main")


def test_an_unknown_commit_is_named_with_what_to_do(make_repository: Make) -> None:
    repo = make_repository()
    repo.commit({"a": "1"})

    with pytest.raises(ConfigurationError, match="no commit `nope`") as caught:
        resolve(repo.root, "nope")

    assert "fetch-depth: 2" in caught.value.advice


def test_a_name_that_looks_like_an_option_is_only_a_name(make_repository: Make) -> None:
    repo = make_repository()
    repo.commit({"a": "1"})

    with pytest.raises(ConfigurationError):
        resolve(repo.root, "--upload-pack=touch /tmp/owned")


def test_a_checkout_has_the_commits_files_and_is_gone_afterwards(make_repository: Make, tmp_path: Path) -> None:
    repo = make_repository()
    old = repo.commit({"a": "old"})
    repo.commit({"a": "new"})

    with checkout(repo.root, resolve(repo.root, old), tmp_path / "side") as folder:
        assert (folder / "a").read_text() == "old"

    assert not (tmp_path / "side").exists()
    assert "side" not in repo.git("worktree", "list")


def test_a_shallow_clone_fetches_the_history_that_is_missing(make_repository: Make, tmp_path: Path) -> None:
    origin = make_repository("origin")
    start = origin.commit({"a": "1"})
    origin.branch("pr", {"b": "1"})
    origin.commit({"b": "2"})
    origin.commit({"a": "2"}, on="main")
    clone = tmp_path / "clone"
    origin.git("clone", "--quiet", "--depth=1", "--branch=pr", f"file://{origin.root}", str(clone))

    base = merge_base(clone, resolve(clone, "main"), resolve(clone, "pr"))

    assert base.sha == start


def test_commits_without_a_common_one_say_how_to_get_it(make_repository: Make) -> None:
    repo = make_repository()
    repo.commit({"a": "1"})
    repo.git("checkout", "--quiet", "--orphan", "other")
    repo.commit({"b": "1"})

    with pytest.raises(ConfigurationError, match="no commit in common"):
        merge_base(repo.root, resolve(repo.root, "main"), resolve(repo.root, "other"))


@pytest.mark.parametrize(
    ("patterns", "expected"),
    [
        (["**"], ("AGENTS.md", "src/deep/b.py")),
        (["src/**"], ("src/deep/b.py",)),
        (["*.md"], ("AGENTS.md",)),
        (["docs/**"], ()),
    ],
)
def test_changed_files_are_those_that_match(make_repository: Make, patterns: list[str], expected: tuple[str]) -> None:
    repo = make_repository()
    repo.commit({"AGENTS.md": "1", "src/deep/b.py": "1", "same": "1"})
    repo.branch("pr", {"AGENTS.md": "2", "src/deep/b.py": None})

    assert changed_files(repo.root, resolve(repo.root, "main"), resolve(repo.root, "pr"), patterns) == expected


NAMES = (" ", "\n", "\r\n", " a ", "b/\t", "c[1]*/d\\e", "é")


def test_a_name_is_kept_as_it_is(make_repository: Make) -> None:
    repo = make_repository()
    repo.commit({"same": "1"})
    repo.branch("pr", dict.fromkeys(NAMES, "1"))
    sides = resolve(repo.root, "main"), resolve(repo.root, "pr")

    assert set(changed_files(repo.root, *sides, ["**"])) == set(NAMES)
    for name in NAMES:
        escaped = glob.escape(name).replace("\\", "\\\\")
        assert changed_files(repo.root, *sides, [escaped]) == (name,)


def test_the_working_tree_says_whether_it_is_dirty(make_repository: Make) -> None:
    repo = make_repository()
    repo.commit({"a": "1"})
    clean = working_tree(repo.root)
    repo.write({"a": "2"})

    assert (clean.ref, clean.dirty) == ("main", False)
    assert working_tree(repo.root).dirty


def test_a_commit_that_only_the_remote_has_is_fetched_and_the_clone_stays_whole(
    make_repository: Make, tmp_path: Path
) -> None:
    """As a pull request's test merge, by the hash that the comment's command names."""
    origin = make_repository()
    origin.commit({"a": "1"})
    clone = tmp_path / "clone"
    subprocess.run(["git", "clone", "--quiet", f"file://{origin.root}", clone], check=True)
    origin.branch("pr", {"a": "2"})
    sha = origin.git("rev-parse", "pr")
    origin.git("update-ref", "refs/pull/7/merge", sha)
    origin.git("checkout", "--quiet", "main")
    origin.git("branch", "-D", "pr")

    assert resolve(clone, sha).sha == sha
    said = subprocess.run(
        ["git", "-C", clone, "config", "--get-regexp", "promisor|partial"], capture_output=True, text=True, check=False
    )
    assert (said.stdout, (clone / ".git/shallow").exists()) == ("", False)


def test_a_folder_outside_of_git_is_a_configuration_error(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match="not in a git repository"):
        repository_root(tmp_path)


def test_the_default_base_is_main_or_master(make_repository: Make) -> None:
    repo = make_repository()
    repo.commit({"a": "1"})
    repo.git("branch", "--move", "main", "master")

    assert default_base(repo.root) == "master"


def test_a_test_merge_commit_is_compared_with_the_base_it_was_merged_into(make_repository: Make) -> None:
    repo = make_repository()
    repo.commit({"a": "1"})
    head = repo.branch("pr", {"b": "1"})
    base = repo.commit({"a": "2"}, on="main")
    repo.git("merge", "--quiet", "--no-ff", "-m", "merge", "pr")
    merge = repo.git("rev-parse", "HEAD")

    assert checked_out_sides(repo.root, head, "main") == (base, merge)


def test_a_shallow_test_merge_commit_still_knows_its_parents(make_repository: Make, tmp_path: Path) -> None:
    repo = make_repository("origin")
    repo.commit({"a": "1"})
    head = repo.branch("pr", {"b": "1"})
    base = repo.commit({"a": "2"}, on="main")
    repo.git("merge", "--quiet", "--no-ff", "-m", "merge", "pr")
    clone = tmp_path / "clone"
    repo.git("clone", "--quiet", "--depth=1", f"file://{repo.root}", str(clone))

    asked_base, asked_head = checked_out_sides(clone, head, "main")

    found = merge_base(clone, resolve(clone, asked_base), resolve(clone, asked_head))
    assert (asked_base, found.sha) == (base, base)


def test_the_head_itself_is_compared_with_where_it_left_the_base_branch(make_repository: Make) -> None:
    repo = make_repository()
    repo.commit({"a": "1"})
    head = repo.branch("pr", {"b": "1"})

    assert checked_out_sides(repo.root, head, "main") == ("main", head)


def test_lines_of_a_file_whose_name_has_a_line_end_are_left_out(make_repository: Make) -> None:
    repo = make_repository()
    repo.commit({"odd\n": "the tool\n", "plain": "the tool\n"})
    assert [line.path for line in lines_with(repo.root, resolve(repo.root, "main"), "tool", ["**"])] == ["plain"]


def test_a_checkout_of_something_else_is_refused(make_repository: Make) -> None:
    repo = make_repository()
    repo.commit({"a": "1"})

    with pytest.raises(ConfigurationError, match=r"\(branch `main`\) is checked out, which is neither .* ffffffffffff"):
        checked_out_sides(repo.root, "f" * 40, "main")


@pytest.mark.parametrize("branch", ["refs/heads/release", "refs/remotes/release", "refs/remotes/origin/release"])
def test_a_tag_cannot_stand_for_a_branch(make_repository: Make, branch: str) -> None:
    repo = make_repository()
    sha = repo.commit({"a": "1"})
    repo.git("update-ref", branch, sha)
    repo.commit({"a": "2"})
    repo.git("tag", "release")

    assert resolve(repo.root, "release").sha == sha


def test_a_branch_has_one_name_however_it_is_given(make_repository: Make) -> None:
    repo = make_repository()
    sha = repo.commit({"a": "1"})
    repo.git("update-ref", "refs/remotes/origin/topic/x", sha)
    repo.git("tag", "v1")

    names = {ref: branch_name(repo.root, ref) for ref in ("main", "refs/heads/main", "HEAD", "origin/topic/x")}
    assert names == {"main": "main", "refs/heads/main": "main", "HEAD": "main", "origin/topic/x": "topic/x"}
    assert [branch_name(repo.root, ref) for ref in (sha, "v1", "someone:patch-1", "--x")] == [
        sha,
        "v1",
        "someone:patch-1",
        "--x",
    ]
    repo.git("checkout", "--quiet", "--detach")
    assert branch_name(repo.root, "HEAD") == "HEAD"
