"""Keeps files from gates and scripts that a trial has made in front of what they use."""

from __future__ import annotations

import re
import shutil
import sys
from collections.abc import Container, Iterator
from contextlib import contextmanager, suppress
from functools import lru_cache
from pathlib import Path, PurePosixPath

from tidegate.trial.gate_scripts import script_files, text_of
from tidegate.trial.workspace import everything_below

_MAKEFILES = ("GNUmakefile", "makefile", "Makefile")  # the first of these is used
_MAKE = re.compile(r"\bg?make\b")
_PYTHON = re.compile(r"\bpython[\d.]*\b|\bpytest\b")
_PYTEST = re.compile(r"\bpytest\b")
_NODE = re.compile(r"\b(?:npm|npx|pnpm|yarn)\b")
_NODE_FILES = (".npmrc", ".yarnrc", ".yarnrc.yml", ".pnpmfile.cjs")  # can name another shell
_PYTEST_FILES = ("conftest.py", "pytest.ini", ".pytest.ini", "tox.ini", "setup.cfg", "pyproject.toml")  # can skip tests
_OWN_CODE = re.compile(r"\s-[cm]\b")  # of `python -c CODE`, `python -m MODULE`
_INTERPRETER = re.compile(r"[\w./-]*\b(?:python[\d.]*|pytest)(?![\w-])")
_INSTALLED = ("lib/python3*/site-packages", "lib/python3*/dist-packages")  # below an interpreter's prefix
_MODULE_SUFFIXES = (".py", ".pyc", ".so")


@contextmanager
def without_stand_ins(
    command: str, template: Path, workspace: Path, aside: Path, path: str = ""
) -> Iterator[tuple[str, ...]]:
    """Move files that the trial made in front of what the command uses to `aside`, and back; yield their names.

    `make` prefers a GNUmakefile to the template's Makefile. Python prefers a module beside a script to its own and to
    installed ones, and a package to the template's module. pytest and npm obey settings beside the tests. `path` is
    where the command's Python is looked up.
    """
    names = tuple(_stand_ins(command, template, workspace, path))
    aside.mkdir(parents=True, exist_ok=True)
    for number, name in enumerate(names):
        (workspace / name).rename(aside / str(number))
    try:
        yield names
    finally:
        for number, name in enumerate(names):
            with suppress(OSError):
                (aside / str(number)).rename(workspace / name)


def _stand_ins(command: str, template: Path, workspace: Path, search: str) -> Iterator[str]:
    scripts = script_files(command, template)
    text = "\n".join([command, *(text_of(template / name) for name in scripts)])
    makes = _MAKE.search(text) is not None
    python = _PYTHON.search(text) is not None or any(name.endswith(".py") for name in scripts)
    python = python and bool(scripts or _OWN_CODE.search(command) or _names_code(command, template))
    settings: tuple[str, ...] = _PYTEST_FILES if python and _PYTEST.search(text) else ()
    settings += _NODE_FILES if _NODE.search(text) else ()
    if not (makes or python or settings) or not workspace.is_dir():
        return
    known = sys.stdlib_module_names | _installed(text, search) if python else frozenset[str]()
    folders = [template, *(path for path in everything_below(template) if path.is_dir() and not path.is_symlink())]
    for folder in folders:
        place = folder.relative_to(template)
        here = workspace / place
        if ".git" in place.parts or here.resolve() != workspace.resolve() / place or not here.is_dir():
            continue  # a link leads elsewhere
        of_template = {path.name for path in folder.iterdir()}
        own = next((name for name in _MAKEFILES if name in of_template), None)
        shadowed = known | {_module(path) for path in folder.iterdir() if _is_code(path)}
        earlier = _MAKEFILES[: _MAKEFILES.index(own)] if makes and own else ()
        for path in sorted(here.iterdir()):
            new = path.name not in of_template and not _names(text, path)
            if new and (path.name in (*earlier, *settings) or (python and _is_module(path, shadowed))):
                yield str(PurePosixPath(place, path.name))


def _names(text: str, path: Path) -> bool:
    """Return True if a script or command names the file, because it looks at it."""
    return path.is_file() and re.search(rf"(?<![\w.-]){re.escape(path.name)}(?![\w-])", text) is not None


def _is_module(path: Path, names: Container[str]) -> bool:
    """Return True for a module or a package of one of these names, and for compiled modules."""
    if path.name == "__pycache__":
        return True
    if _module(path) not in names:
        return False
    return path.suffix in _MODULE_SUFFIXES or (path.is_dir() and any(path.glob("__init__.*")))


def _is_code(path: Path) -> bool:
    """Return True for a Python file, and for a folder that has some."""
    return path.suffix == ".py" or (path.is_dir() and any(path.glob("*.py")))


def _module(path: Path) -> str:
    return path.name.partition(".")[0]


def _names_code(command: str, template: Path) -> bool:
    """Return True if the command names a Python file of the template, such as `pytest test_notes.py`."""
    return any(path.suffix == ".py" and _names(command, path) for path in everything_below(template))


def _installed(text: str, search: str) -> frozenset[str]:
    """Return the names of the modules that are installed for the Pythons that the text names."""
    programs = {shutil.which(name, path=search) for name in ("python3", *_INTERPRETER.findall(text))}
    places = {place.parent.parent for found in programs if found for place in (Path(found), Path(found).resolve())}
    return frozenset().union(*map(_modules_below, places | {Path("/usr"), Path("/usr/local")}))


@lru_cache(maxsize=100)
def _modules_below(prefix: Path) -> frozenset[str]:
    """Return the names of the modules and packages that are installed below this folder."""
    found = [path for pattern in _INSTALLED for path in prefix.glob(f"{pattern}/*")]
    return frozenset(_module(path) for path in found if path.suffix in _MODULE_SUFFIXES or _is_code(path))
