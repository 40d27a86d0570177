"""Finds the files of a suite: scenarios by glob, and their template folders."""

from __future__ import annotations

import os
from pathlib import Path, PurePosixPath

from tidegate.model.suite import INITIAL_STATE

_NEVER = frozenset({".git", ".tidegate"})  # .tidegate holds the workspaces of earlier trials


def matching_files(root: Path, pattern: str) -> list[str]:
    """Return the files that match a glob, sorted and relative to the root.

    Raises ValueError with the reason if the glob is invalid, matches no file or leaves the repository.
    """
    pure = PurePosixPath(pattern)
    if pure.is_absolute() or ".." in pure.parts:
        raise ValueError("must stay in the repository: a relative glob without `..`")
    try:
        found = [path.relative_to(root) for path in root.glob(pattern) if path.is_file()]
    except RecursionError:
        raise ValueError("leads into folders that nest too deep") from None
    except (ValueError, NotImplementedError, OSError, IndexError) as error:
        raise ValueError(f"is not a glob: {error}") from None
    files = sorted(path.as_posix() for path in found if _NEVER.isdisjoint(path.parts))
    if not files:
        raise ValueError("matches no file")
    folders = {folder: stays_in(root, folder) for folder in {os.path.dirname(file) for file in files}}  # noqa: PTH120
    outside = [
        file
        for file in files
        if not (folders[os.path.dirname(file)] and not (root / file).is_symlink()) and not stays_in(root, file)  # noqa: PTH120
    ]
    if outside:
        raise ValueError(f"matches {outside[0]}, a link that leaves the repository")
    return files


def find_template(root: Path, scenario: str, name: str | None) -> str | None:
    """Return the template folder of a scenario relative to the root, or None for an empty workspace.

    A named folder is looked up beside the scenario file, in llm-test-fixtures/templates, in fixtures and at the root.
    Without a name, it is the folder beside the file that has the file's name, if there is one.
    Raises ValueError if the named folder is missing or a folder leads out of the root.
    """
    if name is None:
        beside = PurePosixPath(scenario).with_suffix("").as_posix()
        return _kept_in(root, beside) if _is_folder(root, beside) else None
    starts = (PurePosixPath(scenario).parent.as_posix(), "llm-test-fixtures/templates", "fixtures", "")
    places = list(dict.fromkeys(os.path.normpath(PurePosixPath(start) / name) for start in starts))
    inside = [place for place in places if not place.startswith(("/", "../")) and place not in ("..", ".")]
    if not inside:
        raise ValueError("must be a folder in the repository")
    for place in inside:
        if _is_folder(root, place):
            return _kept_in(root, place)
    raise ValueError(f"no such folder in the repository (looked for {', '.join(inside)})")


def _kept_in(root: Path, template: str) -> str:
    for folder in (template, f"{template}/{INITIAL_STATE}"):
        if not stays_in(root, folder):
            raise ValueError(f"{folder} is a link that leaves the repository")
    return template


def stays_in(root: Path, path: str) -> bool:
    """Return True if the path, with links followed, is below the root."""
    top, real = os.path.realpath(root), os.path.realpath(os.path.join(root, path))  # noqa: PTH118  (resolve() raises on loops)
    return f"{real}/".startswith(f"{top.rstrip('/')}/")


def _is_folder(root: Path, path: str) -> bool:
    try:
        return (root / path).is_dir()
    except OSError:
        return False
