"""Finds the files of a suite: by glob, by the name in another file, and those without a commit."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path, PurePosixPath

from tidegate.checks.evaluators.script_files import files_of
from tidegate.model.suite import INITIAL_STATE, Suite
from tidegate.text.shorten import few
from tidegate.vcs.revisions import matches_none, untracked_files

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
    outside = [file for file in files if not stays_in(root, file)]
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
        return _kept_in(root, beside) if (root / beside).is_dir() else None
    starts = (PurePosixPath(scenario).parent.as_posix(), "llm-test-fixtures/templates", "fixtures", "")
    found = find_named(root, starts, name, folder=True)
    if found == ".":
        raise ValueError("must be a folder in the repository, not the repository itself")
    return _kept_in(root, found)


def find_named(root: Path, starts: Iterable[str], name: str, *, folder: bool = False) -> str:
    """Return the path of a file or folder, relative to the root. `starts`: the folders in which it may be.

    Raises ValueError if it is in none of them, or a link leads out of the root.
    """
    places = dict.fromkeys(os.path.normpath(PurePosixPath(start) / name) for start in starts)
    inside = [place for place in places if not place.startswith(("/", "../")) and place != ".."]
    for place in inside:
        path = root / place
        with suppress(OSError):
            if (path.is_dir() if folder else path.is_file()) and stays_in(root, place):
                return place
    kind = "folder" if folder else "file"
    raise ValueError(f"no such {kind} in the repository (looked for {', '.join(inside) or name})")


def _kept_in(root: Path, template: str) -> str:
    for folder in (template, f"{template}/{INITIAL_STATE}"):
        if not stays_in(root, folder):
            raise ValueError(f"{folder} is a link that leaves the repository")
    return template


def stays_in(root: Path, path: str) -> bool:
    """Return True if the path, with links followed, is below the root."""
    top, real = os.path.realpath(root), os.path.realpath(os.path.join(root, path))  # noqa: PTH118  (resolve() raises on loops)
    return f"{real}/".startswith(f"{top.rstrip('/')}/")


_MADE_BY_PROGRAMS = {"__pycache__", ".DS_Store", "node_modules", ".pytest_cache"}


def uncommitted(root: Path, suite: Suite) -> tuple[str, ...]:
    """Return a sentence for the suite's files that git ignores, and one for those that are not added yet."""
    files = _untracked(root, sorted(set(_files_of(root, suite))))
    ignored, new = (sorted(path for path in files if files[path] is is_ignored) for is_ignored in (True, False))
    sentences = []
    if ignored:
        sentences.append(
            f"git ignores {few(ignored)}: missing from every checkout. Run `git add --force` and commit it."
        )
    if new:
        sentences.append(f"git does not track {few(new)}: missing from every checkout. Run `git add` and commit it.")
    return tuple(sentences)


def _untracked(root: Path, paths: Sequence[str]) -> dict[str, bool]:
    found = untracked_files(root, paths)
    return {path: hidden for path, hidden in found.items() if _MADE_BY_PROGRAMS.isdisjoint(PurePosixPath(path).parts)}


def _files_of(root: Path, suite: Suite) -> Iterator[str]:
    """Yield the suite's file, scenario files, templates, and the files that evaluators' commands name."""
    yield suite.file
    for scenario in suite.scenarios:
        yield scenario.file
        if scenario.template is not None:
            yield scenario.template
        yield from (path for path in files_of(scenario.evaluators) if (root / path).exists())


def unmatched(root: Path, suite: Suite) -> tuple[str, ...]:
    """Return a sentence for each glob of `watch` that matches no tracked file; none outside of a repository."""
    idle = [pattern for pattern in suite.watch if matches_none(root, pattern)]
    return tuple(f"{suite.file}: `watch` has {pattern}, which matches no committed file" for pattern in idle)
