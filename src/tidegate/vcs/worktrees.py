"""Checks commits out, each in a worktree of its own, and makes repositories of checkouts that go to another machine."""

from __future__ import annotations

import shutil
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from tidegate.errors import CannotRunError
from tidegate.model.revision import Revision
from tidegate.vcs.git import IDENTITY, git, must


@contextmanager
def checkout(root: Path, revision: Revision, folder: Path, environ: Mapping[str, str] | None = None) -> Iterator[Path]:
    """Yield a worktree of the commit at `folder`, and remove it afterwards.

    `environ` has git's credentials for files that a partial clone has left out.
    """
    with checkouts(root, {folder: revision}, environ):
        yield folder


@contextmanager
def checkouts(
    root: Path, revisions: Mapping[Path, Revision], environ: Mapping[str, str] | None = None
) -> Iterator[None]:
    """Have a worktree of each commit at its folder, and remove them afterwards."""
    made = []
    try:
        for folder, revision in revisions.items():
            must(root, "worktree", "add", "--quiet", "--detach", "--force", str(folder), revision.sha, env=environ)
            made.append(folder)
        yield
    finally:
        for folder in made:
            (folder / ".git").unlink(missing_ok=True)  # the rest may not be deletable
            shutil.rmtree(folder, ignore_errors=True)
        git(root, "worktree", "prune")


def files_of(root: Path) -> tuple[str, ...]:
    """Return the files of a checkout that git tracks or does not ignore.

    Raises CannotRunError if a name is not UTF-8.
    """
    names = must(root, "ls-files", "-z", "--cached", "--others", "--exclude-standard", "--deduplicate").split("\0")
    if unreadable := [name for name in names if "\N{REPLACEMENT CHARACTER}" in name]:
        raise CannotRunError(f"{root} has a file whose name is not UTF-8: {unreadable[0]}.", "Rename it.")
    return tuple(name for name in names if name)


def make_repository(folder: Path) -> None:
    """Make a repository of the folder, with one commit of all files: builds may ask git for the commit."""
    must(folder, "init", "--quiet")
    must(folder, "-c", "core.autocrlf=false", "add", "--force", "--all")
    must(folder, "commit", "--quiet", "--allow-empty", "--no-verify", "--message", "checkout", env=IDENTITY)
