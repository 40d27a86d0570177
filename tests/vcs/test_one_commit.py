"""The repository of one commit that is made without git, judged by git."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from tidegate.vcs.one_commit import Commit, File, needs_git, repository

START = Commit("n <e@localhost> 946684800 +0000", "start")
FILES = {
    "a": b"1\n",
    "a.b": b"",
    "a-b/x": bytes(range(256)) * 300,
    "ab/é y": b"umlaut",
    "a0/deep/er/z": b"z" * 5000,
    ".gitignore": b"a\n",
    os.fsdecode(b"not \xff text"): b"?",
    "n" * 200: b"a long name",
}


def git(folder: Path, *arguments: str) -> str:
    environment = {"PATH": os.environ["PATH"], "GIT_CONFIG_GLOBAL": "/dev/null", "GIT_CONFIG_NOSYSTEM": "1"}
    environment |= {f"GIT_{who}_{what}": value for who in ("AUTHOR", "COMMITTER") for what, value in IDENTITY.items()}
    return subprocess.run(
        ["git", *arguments], cwd=folder, env=environment, check=True, capture_output=True
    ).stdout.decode()


IDENTITY = {"NAME": "n", "EMAIL": "e@localhost", "DATE": "2000-01-01T00:00:00Z"}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with files of several kinds."""
    for name, data in FILES.items():
        (tmp_path / "w" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "w" / name).write_bytes(data)
    (tmp_path / "w/run").write_text("#!/bin/sh\n")
    (tmp_path / "w/run").chmod(0o755)
    (tmp_path / "w/link").symlink_to("nowhere/at/all")
    return tmp_path / "w"


def make(folder: Path, files: dict[str, File]) -> None:
    for path, data in {"": None, **repository(files, START)}.items():
        if data is None:
            (folder / ".git" / path).mkdir()
        else:
            (folder / ".git" / path).write_bytes(data)


def whole() -> dict[str, File]:
    kinds = {"run": File(0o100755, b"#!/bin/sh\n"), "link": File(0o120000, b"nowhere/at/all")}
    return {name: File(0o100644, data) for name, data in FILES.items()} | kinds


def test_git_finds_it_whole_and_the_workspace_unchanged(folder: Path) -> None:
    make(folder, whole())

    git(folder, "fsck", "--strict", "--full")
    assert git(folder, "status", "--porcelain", "--ignored") == ""
    assert git(folder, "rev-list", "--count", "main") == "1\n"


def test_it_is_the_commit_that_git_would_make(folder: Path) -> None:
    make(folder, whole())
    own = git(folder, "rev-parse", "HEAD")
    subprocess.run(["rm", "-r", folder / ".git"], check=True)

    git(folder, "init", "--quiet", "--initial-branch=main")
    git(folder, "add", "--all", "--force")
    git(folder, "commit", "--quiet", "--message=start")

    assert git(folder, "rev-parse", "HEAD") == own


def test_a_commit_of_nothing_is_one_too(tmp_path: Path) -> None:
    make(tmp_path, {})

    git(tmp_path, "fsck", "--strict", "--full")
    assert git(tmp_path, "ls-files", "--stage") == ""
    assert git(tmp_path, "rev-list", "--count", "HEAD") == "1\n"


def test_an_agent_can_go_on_committing(folder: Path) -> None:
    make(folder, whole())
    (folder / "a").write_text("2\n")

    git(folder, "commit", "--quiet", "--all", "--message=more")

    assert git(folder, "diff", "--stat", "HEAD~").count("|") == 1


@pytest.mark.parametrize("name", [".git/config", "sub/.git", ".gitattributes", "sub/.gitattributes", ".GIT/x", "git~1"])
def test_what_has_a_meaning_for_git_is_left_to_git(name: str) -> None:
    assert needs_git({name: b""})
    assert not needs_git({"a/.gitignore": b"", ".github/workflows/x": b"", "digit": b""})
