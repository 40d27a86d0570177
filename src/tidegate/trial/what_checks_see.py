"""Keeps from gates and scripts what a trial, or the pull request's guidance files, could decide them by."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path, PurePosixPath

from tidegate.trial.gate_scripts import is_same, script_files
from tidegate.trial.processes import Account
from tidegate.trial.safe_files import copy_below, open_regular, remove_below
from tidegate.trial.workspace import Prepared, everything_below

_MAKEFILES = ("GNUmakefile", "makefile", "Makefile")  # the first of these is used
_MAKE = re.compile(r"\bg?make\b")
_PYTHON = re.compile(r"\bpython[\d.]*\b|\bpytest\b")
_OWN_CODE = re.compile(r"\s-[cm]\b")  # of `python -c CODE`, `python -m MODULE`
_MODULE_SUFFIXES = (".py", ".pyc", ".so")
MOST_BYTES = 1_000_000  # of a script, which is searched for what it starts


@contextmanager
def guidance_of_base(
    prepared: Prepared, of_base: Prepared | None, workspace: Path, account: Account | None
) -> Iterator[None]:
    """Put base's guidance files into the workspace; afterwards, put the workspace's own back.

    Head's may contain what a gate looks for. Files that the trial has changed are left alone.
    """
    if of_base is None or not workspace.is_dir():
        yield
        return
    owner = (account.uid, account.gid) if account else None
    names = dict.fromkeys((*prepared.guidance, *of_base.guidance))
    differing = [name for name in names if not is_same(prepared.folder / name, of_base.folder / name)]
    swapped = [name for name in differing if _is_untouched(prepared, workspace, name)]
    for name in swapped:
        _put(of_base, workspace, name, owner)
    try:
        yield
    finally:
        for name in swapped:
            with suppress(OSError):
                _put(prepared, workspace, name, owner)


def _is_untouched(prepared: Prepared, workspace: Path, name: str) -> bool:
    if name in prepared.guidance:
        return is_same(prepared.folder / name, workspace / name)
    return not os.path.lexists(workspace / name)


def _put(source: Prepared, workspace: Path, name: str, owner: tuple[int, int] | None) -> None:
    if name in source.guidance:
        copy_below(workspace, name, source.folder / name, owner)
    else:
        remove_below(workspace, name)


@contextmanager
def without_stand_ins(command: str, template: Path, workspace: Path, aside: Path) -> Iterator[tuple[str, ...]]:
    """Move files that the trial made in front of what the command uses to `aside`, and back; yield their names.

    `make` prefers a GNUmakefile to the template's Makefile, and Python a module beside a script to its own.
    """
    names = tuple(_stand_ins(command, template, workspace))
    aside.mkdir(parents=True, exist_ok=True)
    for number, name in enumerate(names):
        (workspace / name).rename(aside / str(number))
    try:
        yield names
    finally:
        for number, name in enumerate(names):
            with suppress(OSError):
                (aside / str(number)).rename(workspace / name)


def _stand_ins(command: str, template: Path, workspace: Path) -> Iterator[str]:
    scripts = script_files(command, template)
    text = "\n".join([command, *(_text(template / name) for name in scripts)])
    makes = _MAKE.search(text) is not None
    python = _PYTHON.search(text) is not None or any(name.endswith(".py") for name in scripts)
    python = python and bool(scripts or _OWN_CODE.search(command))
    if not (makes or python) or not workspace.is_dir():
        return
    folders = [template, *(path for path in everything_below(template) if path.is_dir() and not path.is_symlink())]
    for folder in folders:
        place = folder.relative_to(template)
        here = workspace / place
        if ".git" in place.parts or here.resolve() != workspace.resolve() / place or not here.is_dir():
            continue  # a link leads elsewhere
        of_template = {path.name for path in folder.iterdir()}
        own = next((name for name in _MAKEFILES if name in of_template), None)
        earlier = _MAKEFILES[: _MAKEFILES.index(own)] if makes and own else ()
        for path in sorted(here.iterdir()):
            new = path.name not in of_template and not _names(text, path)
            if new and (path.name in earlier or (python and _is_module(path))):
                yield str(PurePosixPath(place, path.name))


def _names(text: str, path: Path) -> bool:
    """Return True if a script or command names the file, because it looks at it."""
    return path.is_file() and re.search(rf"(?<![\w.-]){re.escape(path.name)}(?![\w-])", text) is not None


def _is_module(path: Path) -> bool:
    """Return True for a module or a package by the name of one of Python's own, and for compiled modules."""
    if path.name == "__pycache__":
        return True
    if path.name.partition(".")[0] not in sys.stdlib_module_names:
        return False
    return path.suffix in _MODULE_SUFFIXES or (path.is_dir() and (path / "__init__.py").exists())


def _text(path: Path) -> str:
    file = open_regular(path)
    if file is None:
        return ""
    with file:
        return file.read(MOST_BYTES).decode(errors="replace")
