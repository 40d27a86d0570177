"""The folder `.tidegate` in a repository's root, where Tidegate stores everything."""

from __future__ import annotations

from pathlib import Path

from tidegate.errors import ConfigurationError

OUR_FOLDER = ".tidegate"


def make_our_folder(root: Path) -> Path:
    """Create `.tidegate` in `root`, the repository's top folder, with a .gitignore, and return it.

    Raises ConfigurationError if the commit has a link or a submodule there: a pull request could redirect writes to any
    path, or bring files of its own.
    """
    # Imported here, since an event with nothing to do needs only the name.
    from tidegate.vcs.revisions import leading_elsewhere

    if links := leading_elsewhere(root, OUR_FOLDER):
        raise ConfigurationError(
            f"{links[0]} is a link or a submodule that is part of the commit, and Tidegate stores its own files there.",
            f"Remove it: `git rm {OUR_FOLDER}`. The folder is Tidegate's own.",
        )
    folder = root / OUR_FOLDER
    folder.mkdir(exist_ok=True)
    ignore = folder / ".gitignore"
    if not ignore.exists():
        ignore.write_text("# Made by tidegate; safe to delete.\n*\n", encoding="utf-8")
    return folder


def shards_folder(root: Path) -> Path:
    """Return the folder for the plan and the bundles."""
    return make_our_folder(root) / "shards"
