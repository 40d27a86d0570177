"""Checks commits out, each in a worktree of its own, and makes repositories of checkouts that go to another machine."""

from __future__ import annotations

import os
import secrets
import shutil
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path

from tidegate.errors import CannotRunError
from tidegate.model.revision import Revision
from tidegate.vcs.git import IDENTITY, as_alternate, git, must


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
            with suppress(OSError):  # it has a repository of its own
                (folder / ".git").unlink()  # the rest may not be deletable
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


def separate(worktree: Path) -> str:
    """Give a worktree a repository of its own: its history and tags, and of all files only those of its commit.

    Return what its `.git` held, for `rejoin`.
    Its build may ask git for versions, dates and names, and cannot get what files hold in another commit.
    """
    history = [
        must(worktree, "rev-list", "--objects", option, "HEAD") for option in ("--filter=blob:none", "--no-walk")
    ]
    tags = must(worktree, "for-each-ref", "--merged=HEAD", "--format=%(objectname) %(refname)", "refs/tags")
    new, commit = worktree.with_name(secrets.token_hex(8)), must(worktree, "rev-parse", "HEAD")
    must(worktree, "init", "--quiet", "--template=", str(new))
    index, shallow, objects = (
        str(worktree / must(worktree, "rev-parse", "--git-path", name)) for name in ("index", "shallow", "objects")
    )
    pack = f"{new}/.git/objects/pack/pack"
    must(
        new, "pack-objects", "--quiet", "--window=0", pack, env=as_alternate(objects), given="\n".join((*history, tags))
    )
    for file in filter(os.path.exists, (index, shallow)):
        shutil.copy(file, new / ".git")
    if url := git(worktree, "config", "remote.origin.url").stdout.strip():  # addresses of submodules may depend on it
        must(new, "remote", "add", "origin", url)
    (new / ".git/HEAD").write_text(f"{commit}\n", encoding="ascii")
    (new / ".git/packed-refs").write_text(tags and f"{tags}\n", encoding="utf-8")
    before = (worktree / ".git").read_text(encoding="utf-8")
    (worktree / ".git").unlink()
    (new / ".git").rename(worktree / ".git")
    new.rmdir()
    return before


def rejoin(worktree: Path, before: str) -> None:
    """Put a worktree's own `.git` back, where nothing is any more: trials see the same of a checkout, whether it was
    built now or earlier.
    """
    with (worktree / ".git").open("x", encoding="utf-8") as file:
        file.write(before)
