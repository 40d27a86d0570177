"""Calls of git: they run no code of a commit, and they end."""

from __future__ import annotations

import socket
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tidegate.errors import ConfigurationError
from tidegate.vcs.git import NO_ANSWER, TIMED_OUT, git, must
from tidegate.vcs.revisions import repository_root, resolve, working_tree
from tidegate.vcs.worktrees import checkout

Make = Callable[..., Any]


def trap(folder: Path) -> Path:
    """A program that leaves a trace."""
    program = folder / "trap"
    program.write_text(f"#!/bin/sh\ntouch {folder}/sprung\ncat\n")
    program.chmod(0o755)
    return program


def test_no_hook_and_no_monitor_of_the_repository_is_run(make_repository: Make, tmp_path: Path) -> None:
    repo = make_repository()
    program = trap(tmp_path)
    for name in ("post-checkout", "post-index-change", "reference-transaction"):
        (repo.root / ".git/hooks" / name).write_bytes(program.read_bytes())
        (repo.root / ".git/hooks" / name).chmod(0o755)
    repo.git("config", "core.hooksPath", str(repo.root / ".git/hooks"))
    sha = repo.commit({"a": "1"})
    repo.git("config", "core.fsmonitor", str(program))
    (tmp_path / "sprung").unlink(missing_ok=True)

    with checkout(repo.root, resolve(repo.root, sha), tmp_path / "side"):
        assert not working_tree(repo.root).dirty

    assert not (tmp_path / "sprung").exists()


def test_a_commit_cannot_name_a_program_for_its_files(make_repository: Make, tmp_path: Path) -> None:
    """Attributes name filters; what a filter runs is said by the configuration, which no commit has."""
    repo = make_repository()
    program = trap(tmp_path)
    evil = f'[filter "evil"]\n\tclean = {program}\n\tsmudge = {program}\n[core]\n\tfsmonitor = {program}\n'
    sha = repo.commit({".gitattributes": "* filter=evil diff=evil merge=evil\n", ".gitconfig": evil, "config": evil})

    with checkout(repo.root, resolve(repo.root, sha), tmp_path / "side"):
        working_tree(repo.root)
        must(repo.root, "hash-object", "-w", "--no-filters", "--", "config")

    assert not (tmp_path / "sprung").exists()


def test_a_bare_repository_in_a_folder_of_a_commit_is_none_of_ours(make_repository: Make, tmp_path: Path) -> None:
    repo = make_repository()
    monitor = (
        f"[core]\n\trepositoryformatversion = 0\n\tbare = false\n\tworktree = ..\n\tfsmonitor = {trap(tmp_path)}\n"
    )
    inner = {"HEAD": "ref: refs/heads/main\n", "config": monitor, "objects/x": "", "refs/x": ""}
    repo.commit({f"docs/{name}": text for name, text in inner.items()})

    with pytest.raises(ConfigurationError, match="not in a git repository"):
        repository_root(repo.root / "docs")

    assert not (tmp_path / "sprung").exists()


def test_what_a_hook_sets_leads_to_no_other_repository(
    make_repository: Make, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    repo, other = make_repository(), make_repository("other")
    sha = repo.commit({"a": "1"})
    other.commit({"b": "1"})
    for name in ("GIT_DIR", "GIT_COMMON_DIR"):
        monkeypatch.setenv(name, str(other.root / ".git"))
    monkeypatch.setenv("GIT_OBJECT_DIRECTORY", str(tmp_path))
    assert must(repo.root, "rev-parse", "HEAD^{commit}") == sha


def test_a_server_that_never_answers_is_given_up(make_repository: Make) -> None:
    repo = make_repository()
    with socket.create_server(("127.0.0.1", 0)) as silent:
        address = f"http://127.0.0.1:{silent.getsockname()[1]}/notes.git"
        done = git(repo.root, "ls-remote", address, timeout_s=0.5)
    assert (done.returncode, done.stderr) == (TIMED_OUT, NO_ANSWER)
