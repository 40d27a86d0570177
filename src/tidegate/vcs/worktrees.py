"""Checks commits out, each in a worktree of its own."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from tidegate.model.revision import Revision
from tidegate.vcs.git import git, must


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
            git(root, "worktree", "remove", "--force", "--force", str(folder))
        git(root, "worktree", "prune")
