"""The files of a checkout that go to another machine, and the repository that they become there."""

from __future__ import annotations

from pathlib import Path

from tidegate.errors import CannotRunError
from tidegate.vcs.git import IDENTITY, must


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
