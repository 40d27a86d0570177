"""Hashes of the files that evaluators' scripts and agents' programs consist of in one checkout."""

from __future__ import annotations

import glob
import posixpath
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from tidegate.checks.evaluators.script_files import named_files
from tidegate.model.agent import Agent
from tidegate.model.suite import Scenario
from tidegate.vcs.links import led_to
from tidegate.vcs.revisions import resolve, tree_hash


def scripts_hash(root: Path, scenario: Scenario) -> str:
    """Return a hash of the scripts' folders and of the files that their commands name; "" without scripts."""
    scripts = [script for evaluator in scenario.evaluators for script in evaluator.scripts]
    named = [path for command, folder in scripts for path in (folder, *named_files(command, folder))]
    return _tree(root, _globs(root, named))


def program_hash(root: Path, agent: Agent, path: Sequence[str]) -> str:
    """Return a hash of the agent's program in the commit checked out at `root`; "" if it has no file there.

    `path`: the suite's, whose folders can have the program.
    """
    return _tree(root, program_globs(root, agent, path))


def program_globs(root: Path, agent: Agent, path: Sequence[str]) -> tuple[str, ...]:
    """Return globs of the files that the agent's program consists of, with all that lies beside and below them."""
    commands = (getattr(agent, key, None) for key in ("command", "program"))
    words = [one.replace("{repo}", ".") for one in commands if isinstance(one, str)]
    names = [name for one in words for name in named_files(one, ".")]
    return _globs(root, [*names, *(posixpath.join(folder, name) for name in names for folder in path)])


def _globs(root: Path, names: Iterable[str]) -> tuple[str, ...]:
    existing = [place for name in names for place in led_to(root, name) if (root / place).exists()]
    return tuple(dict.fromkeys(one for name in existing for one in _around(root, name)))


def _tree(root: Path, globs: Sequence[str]) -> str:
    """Return a hash of the files of the commit checked out at `root`; "" without globs."""
    return tree_hash(root, resolve(root, "HEAD"), globs) if globs else ""


def _around(root: Path, name: str) -> Iterator[str]:
    folder = name if (root / name).is_dir() else posixpath.dirname(name)
    yield glob.escape(name)
    yield "**" if folder in ("", ".") else f"{glob.escape(folder)}/**"
