"""Finds Git LFS pointers in templates: small text files that stand for large files which were not downloaded."""

from __future__ import annotations

from pathlib import Path

from tidegate.model.suite import Suite
from tidegate.suite.folders import stays_in
from tidegate.text.shorten import few

_START = b"version https://git-lfs.github.com/spec/"
_LARGEST = 1024  # bytes, by the specification of Git LFS


def lfs_pointers(root: Path, suite: Suite) -> tuple[str, ...]:
    """Return a sentence that names the templates' files which are only pointers, or nothing."""
    folders = {scenario.template for scenario in suite.scenarios if scenario.template is not None}
    files = (path for folder in folders for path in (root / folder).rglob("*"))
    found = sorted(name for path in files if _is_pointer(root, name := path.relative_to(root).as_posix()))
    if not found:
        return ()
    return (
        f"{few(found)}: only a Git LFS pointer, not the file. "
        "Install git-lfs and run `git lfs pull`; in a workflow, set `lfs: true` at actions/checkout.",
    )


def _is_pointer(root: Path, name: str) -> bool:
    path = root / name
    try:
        if path.is_symlink() or not path.is_file() or path.stat().st_size > _LARGEST or not stays_in(root, name):
            return False
        return path.read_bytes().startswith(_START)
    except OSError:
        return False
