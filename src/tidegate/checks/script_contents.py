"""Hash the files that a script or a judge's program consists of, as far as a checkout has them."""

from __future__ import annotations

import hashlib
import os
import stat
from collections.abc import Iterable
from pathlib import Path


def script_contents(root: Path, names: Iterable[str]) -> dict[str, str]:
    """Return a hash of each file at or below these paths, by its path.

    Links are followed inside of the checkout. Of one that leads out, only its destination counts.
    """
    top = Path(os.path.realpath(root))
    found: dict[str, str] = {}
    waiting = [top / name for name in names]
    while waiting:
        path = waiting.pop()
        real = Path(os.path.realpath(path))
        name = os.path.relpath(real, top)
        if not real.is_relative_to(top):
            found[os.path.relpath(path, top)] = f"-> {real}"
        elif name not in found and real.exists():
            found[name] = content_hash(real) if real.is_file() else ""
            waiting += (one for one in real.iterdir() if one.name != ".git") if real.is_dir() else ()
    return {name: mark for name, mark in found.items() if mark}


def content_hash(path: Path) -> str:
    """Return a hash of the file's content, and whether it may be run."""
    runs = "runnable " if path.stat().st_mode & stat.S_IXUSR else ""
    with path.open("rb") as file:
        return runs + hashlib.file_digest(file, "sha256").hexdigest()
