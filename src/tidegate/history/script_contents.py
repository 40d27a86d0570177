"""Finds the files that evaluators' scripts consist of in one checkout; they are part of a scenario's definition."""

from __future__ import annotations

import glob
import re
import sys
from collections.abc import Iterable
from functools import lru_cache
from pathlib import Path, PurePosixPath

from tidegate.evaluators.script_files import named_files
from tidegate.model.suite import Scenario
from tidegate.vcs.links import led_to
from tidegate.vcs.revisions import resolve, tracked_files, tree_hash

MOST_CHARACTERS = 1_000_000  # per file; the rest is not searched
_IMPORT = re.compile(r"(?m)^\s*(?:from|import)\s[^#\n]*")
_QUOTED = re.compile(r"""["'](?:\w+\.)*(\w+)["']""")  # `import_module("checks.scoring")`
_WORD = re.compile(r"\w+")
_NAME = re.compile(r"[\w.-]+")  # the last part of a path
_DOCUMENTS = (".md", ".rst")  # which are full of names, and which no script reads


def script_files(root: Path, scenario: Scenario) -> tuple[str, ...]:
    """Return the files that the scenario's evaluator commands name, and neighbouring files that those name in turn.

    If a command names no file, all files below its folder are included. Paths are relative to `root`, sorted.
    """
    found: set[str] = set()
    for evaluator in scenario.evaluators:
        for command, folder in evaluator.scripts:
            first = tracked_at(root, named_files(command, folder))
            if not first and folder not in (".", str(PurePosixPath(scenario.file).parent)):
                first = set(_below(root, folder))
            found |= followed(root, first, folder)
    return tuple(sorted(found - {scenario.file}))


def used_files(root: Path, scripts: Iterable[str], *, guessed: bool = True) -> frozenset[str]:
    """Return the files, anywhere in the repository, that the scripts import as Python modules or name by file name.

    Files that these use in turn are included. A script can extend its search path and go to other folders, so a file
    counts wherever it lies. Documents never count. With `guessed`, a word in quotes may be a module, and a module of
    Python's own name may be the repository's.
    """
    left, found = list(scripts), set[str]()
    modules, files = _by_name(tracked_files(root, ".")) if left else ({}, {})
    while left:
        text = _text(root / left.pop())
        words = {word for line in _IMPORT.findall(text) for word in _WORD.findall(line)}
        words = words | set(_QUOTED.findall(text)) if guessed else words - sys.stdlib_module_names
        names = {word.rstrip(".") for word in _NAME.findall(text)}
        used = {path for word in words for path in modules.get(word, ())}
        used |= {path for name in names for path in files.get(name, ())}
        fresh = tracked_at(root, used - found) - found
        found |= fresh
        left += fresh
    return frozenset(found)


def _by_name(paths: Iterable[str]) -> tuple[dict[str, list[str]], dict[str, list[str]]]:
    """Return the Python files by the name of their module, and all files with a suffix by their name."""
    modules: dict[str, list[str]] = {}
    files: dict[str, list[str]] = {}
    for path in map(PurePosixPath, paths):
        if path.suffix == ".py":
            modules.setdefault(_module(path), []).append(str(path))
        if path.suffix and path.suffix not in _DOCUMENTS:
            files.setdefault(path.name, []).append(str(path))
    return modules, files


def scripts_hash(root: Path, scenario: Scenario) -> str:
    """Return a hash of these files in the commit checked out at `root`; "" if there are none."""
    files = [glob.escape(path) for path in script_files(root, scenario)]
    return tree_hash(root, resolve(root, "HEAD"), files) if files else ""


def followed(root: Path, first: Iterable[str], folder: str) -> set[str]:
    """Return the files in `first` and those that they refer to, directly or indirectly."""
    found, left = set(first), list(first)
    while left:
        path = left.pop()
        text = _text(root / path)
        beside = {one for place in (str(PurePosixPath(path).parent), folder) for one in _below(root, place)}
        named = tracked_at(root, (one for one in beside - found if _names(text, PurePosixPath(one)))) - found
        found |= named
        left += named
    return found


def tracked_at(root: Path, names: Iterable[str]) -> set[str]:
    """Return the tracked files of these names, those below folders of these names, and those that links lead to."""
    return {path for name in names for place in led_to(root, name) for path in _below(root, place)}


@lru_cache(maxsize=1000)
def _below(root: Path, name: str) -> tuple[str, ...]:
    """Return the tracked file `name`, or the tracked files below that folder (for ".", only those directly in it)."""
    files = tracked_files(root, f":(literal){name}")
    return tuple(path for path in files if name != "." or "/" not in path)


def _names(text: str, path: PurePosixPath) -> bool:
    """Return True if the text contains the file's name or imports it as a Python module; never for documents."""
    if path.suffix in _DOCUMENTS:
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
