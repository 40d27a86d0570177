"""Finds the files that gates run, load or look at, and that a trial has changed: of the template, and of HOME."""

from __future__ import annotations

import re
from collections.abc import Container, Iterable, Iterator
from functools import lru_cache
from itertools import islice
from pathlib import Path, PurePosixPath

from tidegate.model.probe import AskServer, RunCommand, RunScript
from tidegate.trial.gate_scripts import is_same, script_files, text_of
from tidegate.trial.workspace import Prepared, everything_below

MOST_FILES = 2000  # of a template, or of one folder in HOME; the others are not looked at
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
_PATTERN = re.compile(r"[\w./*?-]*[*?][\w./*?-]*")
# What interpreters and programs load from HOME without being told to. Other state of the tool is not in the list.
_OF_HOME = (
    *(".local/lib/python3*/site-packages/*", ".node_modules/*", ".npmrc", ".yarnrc", ".yarnrc.yml", ".jq", ".proverc"),
    *(".gitconfig", ".config/git/config", ".sqliterc", ".psqlrc", ".curlrc", ".rspec", ".config/rspec/options"),
    *(".cargo/config", ".cargo/config.toml", ".config/go/env", ".Rprofile", ".config/pip/pip.conf"),
)


def rewritten_files(requests: Iterable[object], prepared: Prepared, workspace: Path, home: Path) -> tuple[str, ...]:
    """Return the files that these requests of gates use, other than guidance, and that the trial changed or removed.

    The scripts that a gate of type `script` starts or sources are left out, since they are restored. Files that
    interpreters load from HOME are `~/…`, whether the trial or its setup made them.
    """
    asked = tuple(requests)
    commands = [request for request in asked if isinstance(request, RunCommand | RunScript)]
    names: set[str] = set()
    for request in commands:
        used = used_files(request.command, prepared.folder)
        restored = script_files(request.command, prepared.folder) if isinstance(request, RunScript) else ()
        names |= used.difference(restored)
    names -= {entry.partition("#")[0] for entry in prepared.guidance}
    changed = {name for name in names if not is_same(prepared.folder / name, workspace / name)}
    starts = bool(commands) or any(isinstance(request, AskServer) for request in asked)
    return tuple(sorted(changed.union(_of_home(home) if starts else ())))


def _of_home(home: Path) -> Iterator[str]:
    """Yield the files of HOME that programs load without being told to."""
    for pattern in _OF_HOME:
        found = list(islice(home.glob(pattern), MOST_FILES + 1))
        yield from (f"~/{path.relative_to(home).as_posix()}" for path in found[:MOST_FILES])
        if len(found) > MOST_FILES:
            yield f"~/{pattern}: more than {MOST_FILES:,} files"


@lru_cache(maxsize=1000)
def used_files(command: str, template: Path) -> frozenset[str]:
    """Return the files of the template that a command uses.

    They are named, imported, or matched by a pattern such as `t/*.sh`, in it or in files that it uses.
    """
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
        patterns = {pattern for pattern in map(_relative, _PATTERN.findall(text)) if _WORD.search(pattern)}
        named = [name for name, path in left.items() if _is_used(path, words, modules) or _matches(name, patterns)]
        for name in named:
            found.add(name)
            texts.append(text_of(left.pop(name)))
    return frozenset(found)


def _relative(pattern: str) -> str:
    """Return the pattern without `./`, and without the slash that follows a variable: `"$folder"/*.sh`."""
    return re.sub(r"^(?:\.?/)+", "", pattern)


def _matches(name: str, patterns: Iterable[str]) -> bool:
    return any(PurePosixPath(name).match(pattern) for pattern in patterns)


def _is_used(path: Path, words: Container[str], modules: Container[str]) -> bool:
    """Return True if a text with these words, that imports these modules, uses the file."""
    if path.name in words:
        return True
    if path.suffix != ".py":
        return False
    is_test = path.stem.startswith("test") or path.stem.endswith("test") or path.name == "conftest.py"
    module = path.parent.name if path.name == "__init__.py" else path.stem
    return module in modules or (is_test and any(program in words for program in _RUN_TESTS))
