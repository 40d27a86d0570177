"""Finds the files of the template that a trial has changed."""

from __future__ import annotations

from itertools import islice
from pathlib import Path

from tidegate.trial.gate_scripts import is_same
from tidegate.trial.workspace import Prepared, everything_below

MOST_FILES = 10_000  # of the template


def rewritten_files(prepared: Prepared, workspace: Path) -> tuple[str, ...]:
    """Return the files that the workspace began with and that the trial has changed or removed."""
    files = (path for path in everything_below(prepared.folder) if path.is_file() and not path.is_symlink())
    names = (path.relative_to(prepared.folder) for path in files)
    begun = islice((name for name in names if name.parts[0] != ".git"), MOST_FILES)
    return tuple(sorted(str(name) for name in begun if not is_same(prepared.folder / name, workspace / name)))
