"""Finds the files of the template that gates run or look at, and that a trial has changed."""

from __future__ import annotations

import re
from collections.abc import Container, Iterable
from functools import lru_cache
from pathlib import Path

from tidegate.model.probe import RunCommand, RunScript
from tidegate.trial.gate_scripts import is_same, script_files, text_of
from tidegate.trial.workspace import Prepared, everything_below

MOST_FILES = 2000  # of a template; the others are not looked at
# What these programs read without being told to.
_BY_ITSELF = {
    **dict.fromkeys(("make", "gmake"), ("GNUmakefile", "makefile", "Makefile")),
    **dict.fromkeys(("npm", "npx", "pnpm", "yarn", "bun"), ("package.json",)),
    "just": ("justfile", "Justfile"),
}
_RUN_TESTS = {"pytest", "unittest"}
_NAME = re.compile(r"[\w.-]+")
_IMPORTS = re.compile(r"(?m)^\s*(?:from|import)\s[^#\n]*|\s-m\s.*")
_WORD = re.compile(r"\w+")


def rewritten_files(requests: Iterable[object], prepared: Prepared, workspace: Path) -> tuple[str, ...]:
    """Return the files that these requests of gates use, other than guidance, and that the trial changed or removed.

    The scripts that a gate of type `script` starts or sources are left out, since they are restored.
    """
    names: set[str] = set()
    for request in requests:
        if isinstance(request, RunCommand | RunScript):
            used = used_files(request.command, prepared.folder)
            restored = script_files(request.command, prepared.folder) if isinstance(request, RunScript) else ()
            names |= used.difference(restored)
    names -= {entry.partition("#")[0] for entry in prepared.guidance}
    return tuple(sorted(name for name in names if not is_same(prepared.folder / name, workspace / name)))


@lru_cache(maxsize=1000)
def used_files(command: str, template: Path) -> frozenset[str]:
    """Return the files of the template that a command uses: named or imported by it, or by files that it uses."""
    files = [path for path in everything_below(template) if path.is_file() and not path.is_symlink()]
    left = {path.relative_to(template).as_posix(): path for path in files if ".git" not in path.parts}
    left = dict(list(left.items())[:MOST_FILES])
    found: set[str] = set()
    texts = [command]
    while texts:
        text = texts.pop()
        words = {word.rstrip(".") for word in _NAME.findall(text)}
        words |= {name for program in words & _BY_ITSELF.keys() for name in _BY_ITSELF[program]}
        modules = {word for line in _IMPORTS.findall(text) for word in _WORD.findall(line)}
        for name in [name for name, path in left.items() if _is_used(path, words, modules)]:
            found.add(name)
            texts.append(text_of(left.pop(name)))
    return frozenset(found)


def _is_used(path: Path, words: Container[str], modules: Container[str]) -> bool:
    """Return True if a text with these words, that imports these modules, uses the file."""
    if path.name in words:
        return True
    if path.suffix != ".py":
        return False
    is_test = path.stem.startswith("test") or path.stem.endswith("test") or path.name == "conftest.py"
    module = path.parent.name if path.name == "__init__.py" else path.stem
    return module in modules or (is_test and any(program in words for program in _RUN_TESTS))
