"""Which programs of the system are used where a pull request brings its own by the same names.

The folders of `path` come first in PATH, so that agents find the tool under test. What judges the tool, and an agent's
own program, must not be what the pull request has put there.
"""

from __future__ import annotations

import filecmp
import itertools
import os
import shlex
import shutil
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

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


class Built(NamedTuple):
    """A checkout that is built, and the folders of its `path`."""

    root: Path
    path: Sequence[str | Path]

    @property
    def folders(self) -> list[Path]:
        """The folders of `path`."""
        return list(dict.fromkeys(self.root / folder for folder in self.path))

    @property
    def names(self) -> list[str]:
        """The names of all that is in the folders."""
        return sorted({entry.name for folder in self.folders if folder.is_dir() for entry in folder.iterdir()})

    def program(self, name: str) -> Path | None:
        """Return the program of that name in the folders, or None."""
        found = shutil.which(name, path=":".join(map(str, self.folders)))
        return None if found is None else Path(found)

    def file(self, name: str) -> Path | None:
        """Return the first file of that name in the folders, as a shell's `.` finds it, or None."""
        return next((folder / name for folder in self.folders if (folder / name).is_file()), None)


def find_target(name: str, base: Built, head: Built) -> Path | None:
    """Return where head has the target that `base` has in its `path`; None if it has none any more.

    It is where base has it, unless head's `path` finds a copy of it first. Only if nothing is left there, it has moved:
    into a new file, since another file of base is another copy.
    """
    before = base.program(name)
    if before is None or base.root == head.root:
        return before
    same, now = head.root / before.relative_to(base.root), head.program(name)
    if os.path.lexists(same):
        there = same if shutil.which(same) else None
        return now if now and there and _is_copy(now, there) else there
    return None if now is None or os.path.lexists(base.root / now.relative_to(head.root)) else now


def untested(target: str, tested: Built, own: Built) -> tuple[str, ...]:
    """Return what head's own `path` finds, if anything, and what trials find, of a file that differs; else ()."""
    names = tested.names if tested.folders != own.folders else ()
    for find, name in itertools.product((Built.program, Built.file), names):
        used, first = find(tested, name), find(own, name)
        if used and (name == target if first is None else not _is_copy(used, first)):
            return tuple(os.path.relpath(one, own.root) if one else "" for one in (first, used))
    return ()


def _is_copy(one: Path, other: Path) -> bool:
    """Return True if both are the same file, or equal files beside which no files of equal names differ."""
    one, other = one.resolve(), other.resolve()
    if one == other or not filecmp.cmp(one, other, shallow=False):
        return one == other
    common = {path.name for path in one.parent.iterdir()} & {path.name for path in other.parent.iterdir()}
    _, differ, unreadable = filecmp.cmpfiles(one.parent, other.parent, common, shallow=False)
    return not (differ or unreadable)


def write_front(folder: Path, name: str, program: str | None, variables: Mapping[str, str | None]) -> Path:
    """Create a folder to put first in PATH, from which this name starts the program with these variables.

    A variable that is None is removed. Without a program, the name is not found.
    """
    folder.mkdir(mode=0o755, parents=True, exist_ok=True)
    removed = [word for variable, value in variables.items() if value is None for word in ("-u", variable)]
    own = [f"{variable}={value}" for variable, value in variables.items() if value is not None]
    # No link: a Python of a virtual environment looks for its files beside the path that it is started by.
    run = f'exec {shlex.join(["/usr/bin/env", *removed, *own, program or ""])} "$@"'
    missing = f"echo {shlex.quote(f'{name}: not found')} >&2; exit 127"
    (folder / name).write_bytes(os.fsencode(f"#!/bin/sh\n{run if program else missing}\n"))
    (folder / name).chmod(0o755)
    return folder


def write_missing(folder: Path, base: Built, system: Built) -> list[Path]:
    """Create a folder to put in PATH before the system's; return it in a list, empty if none is needed.

    From it, no name of base's `path` starts another program of the system, whether a side has its own or has lost it.
    """
    for name in base.names:
        ours, other = base.file(name), system.file(name)
        if ours and other and ours.resolve() != other.resolve():
            write_front(folder, name, None, {})
    return [folder] if folder.exists() else []


def _is_below(folder: str, roots: Iterable[str]) -> bool:
    return any(folder == root or folder.startswith(root + os.sep) for root in roots)
