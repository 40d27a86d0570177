"""Finds the files of a checkout that an agent's program consists of."""

from __future__ import annotations

import glob
import posixpath
from collections.abc import Iterable, Sequence
from pathlib import Path, PurePosixPath

from tidegate.evaluators.script_files import named_files
from tidegate.history.script_contents import followed, tracked_at, used_files
from tidegate.model.agent import Agent
from tidegate.vcs.revisions import resolve, tree_hash


def program_hash(root: Path, agent: Agent, path: Sequence[str]) -> str:
    """Return a hash of the agent's program in the commit checked out at `root`; "" if it has no file there.

    `path`: the suite's. Programs in these folders are the tool under test, unless the agent names them itself.
    """
    named = named_by(agent, path)
    own = tracked_at(root, named)
    files = own | {file for file in code_of(root, named, guessed=False) if not is_below(file, path)}
    if not files:
        return ""
    return tree_hash(root, resolve(root, "HEAD"), [glob.escape(file) for file in sorted(files)])


def named_by(agent: Agent, path: Sequence[str]) -> frozenset[str]:
    """Return the paths that the agent's program may have in the repository. They need not exist."""
    commands = (getattr(agent, key, None) for key in ("command", "program"))
    names = {
        name
        for command in commands
        if isinstance(command, str)
        for name in named_files(command.replace("{repo}", "."), ".")
    }
    return frozenset(names | {posixpath.join(folder, name) for name in names for folder in path if "/" not in name})


def code_of(root: Path, named: Iterable[str], *, guessed: bool = True) -> frozenset[str]:
    """Return the files of these names in a checkout, what links lead to, and what these files import or name.

    With `guessed`, every word in quotes may be a module that is imported.
    """
    first = tracked_at(root, named)
    return frozenset(first | used_files(root, followed(root, first, "."), guessed=guessed))


def is_below(path: str, folders: Iterable[str]) -> bool:
    """Return True if the file is below one of the folders; of the repository's root, only if it is directly in it."""
    return any("/" not in path if folder == "." else PurePosixPath(path).is_relative_to(folder) for folder in folders)
