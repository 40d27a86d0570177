"""Finds the files that evaluators' scripts consist of in one checkout; they are part of a scenario's definition."""

from __future__ import annotations

import glob
import re
from collections.abc import Iterable
from functools import lru_cache
from pathlib import Path, PurePosixPath

from tidegate.evaluators.script_files import named_files
from tidegate.model.suite import Scenario
from tidegate.vcs.revisions import resolve, tracked_files, tree_hash

MOST_CHARACTERS = 1_000_000  # per file; the rest is not searched
_IMPORT = re.compile(r"(?m)^\s*(?:from|import)\s[^#\n]*")
_QUOTED = re.compile(r"""["'](?:\w+\.)*(\w+)["']""")  # `import_module("checks.scoring")`
_WORD = re.compile(r"\w+")


def script_files(root: Path, scenario: Scenario) -> tuple[str, ...]:
    """Return the files that the scenario's evaluator commands name, and neighbouring files that those name in turn.

    If a command names no file, all files below its folder are included. Paths are relative to `root`, sorted.
    """
    found: set[str] = set()
    for evaluator in scenario.evaluators:
        for command, folder in evaluator.scripts:
            first = {path for name in named_files(command, folder) for path in _below(root, name)}
            if not first and folder not in (".", str(PurePosixPath(scenario.file).parent)):
                first = set(_below(root, folder))
            found |= _followed(root, first, folder)
    return tuple(sorted(found - {scenario.file}))


def imported_files(root: Path, scenario: Scenario) -> frozenset[str]:
    """Return the Python files, anywhere in the repository, that the evaluators' scripts import, directly or indirectly.

    A script can extend its search path, so a module counts wherever it lies.
    """
    left = list(script_files(root, scenario))
    if not left:
        return frozenset()
    modules = [PurePosixPath(path) for path in tracked_files(root, ":(glob)**/*.py")]
    found: set[str] = set()
    while left:
        text = _text(root / left.pop())
        words = {word for line in _IMPORT.findall(text) for word in _WORD.findall(line)} | set(_QUOTED.findall(text))
        named = {str(path) for path in modules if _module(path) in words} - found
        found |= named
        left += named
    return frozenset(found)


def scripts_hash(root: Path, scenario: Scenario) -> str:
    """Return a hash of these files in the commit checked out at `root`; "" if there are none."""
    files = [glob.escape(path) for path in script_files(root, scenario)]
    return tree_hash(root, resolve(root, "HEAD"), files) if files else ""


def _followed(root: Path, first: Iterable[str], folder: str) -> set[str]:
    """Return the files in `first` and those that they refer to, directly or indirectly."""
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
    """Return the tracked file `name`, or the tracked files below that folder (for ".", only those directly in it)."""
    files = tracked_files(root, f":(literal){name}")
    return tuple(path for path in files if name != "." or "/" not in path)


def _names(text: str, path: PurePosixPath) -> bool:
    """Return True if the text contains the file's name or imports it as a Python module; never for documents."""
    if path.suffix in (".md", ".rst"):
        return False
    if re.search(rf"(?<![\w.-]){re.escape(path.name)}(?![\w-])", text):
        return True
    imports = rf"(?m)^\s*(from|import)\s[^#\n]*\b{re.escape(_module(path))}\b"
    return path.suffix == ".py" and re.search(imports, text) is not None


def _module(path: PurePosixPath) -> str:
    return path.parent.name if path.name == "__init__.py" else path.stem


def _text(path: Path) -> str:
    try:
        with path.open(encoding="utf-8", errors="replace") as file:
            return file.read(MOST_CHARACTERS)
    except OSError:
        return ""
