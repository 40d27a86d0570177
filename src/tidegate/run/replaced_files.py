"""Finds the files of head's commit that head's build replaces: what is tested is then not what is merged."""

from __future__ import annotations

import hashlib
import os
import posixpath
import stat
from collections.abc import Iterable, Mapping
from pathlib import Path

Contents = Mapping[str, tuple[str, str]]  # of base and of head, by name


def changed_before(base: Path, head: Path) -> Contents:
    """Return the files that differ between two checkouts of which nothing is built yet."""
    names = (Path(place, name).relative_to(head).as_posix() for place, _, files in os.walk(head) for name in files)
    both = ((name, (_content(base / name), _content(head / name))) for name in names if not name.startswith(".git/"))
    return {name: (old, new) for name, (old, new) in both if old and old != new}


def replaced_files(base: Path, head: Path, changed: Contents, folders: Iterable[str]) -> tuple[str, ...]:
    """Return which of the changed files are as on base since head was built.

    In the `folders` of `path`, also programs that only head's build has replaced: what both builds make is a product.
    """
    programs = set(map(posixpath.normpath, folders))

    def is_replaced(name: str, old: str, new: str) -> bool:
        now = _content(head / name)
        if now in ("", new):
            return False
        alone = (posixpath.dirname(name) or ".") in programs and _content(base / name) == old
        return now == old or alone

    return tuple(sorted(name for name, (old, new) in changed.items() if is_replaced(name, old, new)))


def _content(path: Path) -> str:
    """Return a hash of a file's content and of its right to be run; '' if there is none."""
    try:
        mode = path.lstat().st_mode
        data = os.fsencode(path.readlink()) if stat.S_ISLNK(mode) else path.read_bytes()
    except OSError:
        return ""
    return f"{mode & 0o170100:o} {hashlib.sha256(data).hexdigest()}"
