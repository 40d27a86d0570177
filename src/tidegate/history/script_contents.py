"""The files that evaluators' scripts are made of, in one checkout: a part of what a scenario asks."""

from __future__ import annotations

import glob
import re
from collections.abc import Iterable
from functools import lru_cache
from pathlib import Path, PurePosixPath

from tidegate.evaluators.script_files import named_files
from tidegate.model.suite import Scenario
from tidegate.vcs.revisions import resolve, tracked_files, tree_hash

MOST_CHARACTERS = 1_000_000  # of a file that are looked through


def script_files(root: Path, scenario: Scenario) -> tuple[str, ...]:
    """Files that the commands of the scenario's evaluators name, and those beside them that these name in turn.

    Where a command names none, all below the folder that it was given. Paths are relative to `root`; sorted.
    """
    found: set[str] = set()
    for evaluator in scenario.evaluators:
        for command, folder in evaluator.scripts:
            first = {path for name in named_files(command, folder) for path in _below(root, name)}
            if not first and folder not in (".", str(PurePosixPath(scenario.file).parent)):
                first = set(_below(root, folder))
            found |= _followed(root, first, folder)
    return tuple(sorted(found - {scenario.file}))


def scripts_hash(root: Path, scenario: Scenario) -> str:
    """A hash of these files, as the commit that is checked out at `root` has them; '' where there are none."""
    files = [glob.escape(path) for path in script_files(root, scenario)]
    return tree_hash(root, resolve(root, "HEAD"), files) if files else ""


def _followed(root: Path, first: Iterable[str], folder: str) -> set[str]:
    found, left = set(first), list(first)
    while left:
        path = left.pop()
        text = _text(root / path)
        beside = {one for place in (str(PurePosixPath(path).parent), folder) for one in _below(root, place)}
        named = {one for one in beside - found if _names(text, PurePosixPath(one))}
        found |= named
        left += named
    return found


@lru_cache(maxsize=1000)
def _below(root: Path, name: str) -> tuple[str, ...]:
    """The file, or the files below the folder, of those that the commit has; of the root's, those right in it."""
    files = tracked_files(root, f":(literal){name}")
    return tuple(path for path in files if name != "." or "/" not in path)


def _names(text: str, path: PurePosixPath) -> bool:
    """Whether the file is called by its name, or imported as Python does; a document is mentioned, not used."""
    if path.suffix in (".md", ".rst"):
        return False
    if re.search(rf"(?<![\w.-]){re.escape(path.name)}(?![\w-])", text):
        return True
    module = path.parent.name if path.name == "__init__.py" else path.stem
    imports = rf"(?m)^\s*(from|import)\s[^#\n]*\b{re.escape(module)}\b"
    return path.suffix == ".py" and re.search(imports, text) is not None


def _text(path: Path) -> str:
    try:
        with path.open(encoding="utf-8", errors="replace") as file:
            return file.read(MOST_CHARACTERS)
    except OSError:
        return ""
