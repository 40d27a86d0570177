"""Which programs of the system are used where a pull request brings its own by the same names.

The folders of `path` come first in PATH, so that agents find the tool under test. What judges the tool, and an agent's
own program, must not be what the pull request has put there.
"""

from __future__ import annotations

import os
import shlex
import shutil
from collections.abc import Iterable, Sequence
from pathlib import Path

_FIRST_LINE_BYTES = 256


def system_path(path: str, excluded: Iterable[Path]) -> str:
    """Return the absolute folders of `path` that are not below one of the excluded ones."""
    roots = [os.path.realpath(root) for root in excluded]
    folders = [folder for folder in path.split(":") if folder.startswith("/")]
    return ":".join(folder for folder in folders if not _is_below(os.path.realpath(folder), roots))


def program_words(name: str, path: str) -> tuple[str, ...] | None:
    """Return the words that start a program of `path`; None if it has none by that name.

    A script that names its interpreter by `env` gets the one of `path`, whatever PATH it is started with.
    """
    program = shutil.which(name, path=path)
    if program is None:
        return None
    with Path(program).open("rb") as file:
        line = file.read(_FIRST_LINE_BYTES).partition(b"\n")[0]
    words = line.removeprefix(b"#!").decode(errors="replace").split() if line.startswith(b"#!") else []
    if not words or Path(words.pop(0)).name != "env":
        return (program,)
    if words[:1] == ["-S"]:
        words.pop(0)
    interpreter = shutil.which(words[0], path=path) if words else None
    return (program,) if interpreter is None else (interpreter, *words[1:], program)


def hidden_programs(own: Iterable[Path], other: Iterable[Path], path: str) -> tuple[str, ...]:
    """Return the names of programs in `path` that the folders `own` hide and the folders `other` do not."""
    names = _programs(own) - _programs(other)
    return tuple(sorted(name for name in names if shutil.which(name, path=path)))


def write_front(folder: Path, names: Sequence[str], path: str) -> Path:
    """Create a folder to put first in PATH, from which these names start the programs of `path`."""
    folder.mkdir(mode=0o755, parents=True)
    for name in names:
        program = shutil.which(name, path=path)
        if program is not None:
            # No link: a Python of a virtual environment looks for its files beside the path that it is started by.
            (folder / name).write_text(f'#!/bin/sh\nexec {shlex.quote(program)} "$@"\n', encoding="utf-8")
            (folder / name).chmod(0o755)
    return folder


def _programs(folders: Iterable[Path]) -> set[str]:
    found: set[str] = set()
    for folder in folders:
        if folder.is_dir():
            with os.scandir(folder) as entries:
                found.update(entry.name for entry in entries if os.access(entry.path, os.X_OK))
    return found


def _is_below(folder: str, roots: Iterable[str]) -> bool:
    return any(folder == root or folder.startswith(root + os.sep) for root in roots)
