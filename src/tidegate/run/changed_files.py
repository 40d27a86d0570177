"""Collects the files that the pull request changed, as diffs for the report."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path, PurePosixPath

from tidegate.model.result import FileChange
from tidegate.model.revision import Revision
from tidegate.model.suite import Suite
from tidegate.vcs.revisions import changed_files, file_diff

MOST_FILES = 60
MOST_CHARACTERS = 20_000  # of one file
MOST_IN_ALL = 300_000
_NO_ROOM = "… left out: the diffs of all files together are too long"


def file_changes(
    root: Path, base: Revision, head: Revision, paths: Sequence[str], suites: Sequence[Suite]
) -> tuple[FileChange, ...]:
    """Return the diffs of these files, definitions first. Diffs that are too long are cut and say so."""
    if not paths:
        return ()
    globs = [glob for suite in suites for glob in suite.guidance_globs]
    guidance = set(changed_files(root, base, head, globs)) if globs else set()
    definitions = {path for path in paths if _is_definition(path, suites) and path not in guidance}
    ordered = sorted(paths, key=lambda path: path not in definitions)
    return tuple(
        _within(MOST_IN_ALL, (_change(root, base, head, path, path in definitions, suites) for path in ordered))
    )


def _is_definition(path: str, suites: Sequence[Suite]) -> bool:
    return any(path == suite.file for suite in suites) or any(_scenarios(path, suites))


def _within(room: int, changes: Iterable[FileChange]) -> Iterator[FileChange]:
    """Yield at most MOST_FILES changes; once `room` characters are used up, diffs are replaced by a note."""
    for number, change in enumerate(changes):
        if number == MOST_FILES:
            return
        room -= len(change.diff)
        yield change if room >= 0 else change.model_copy(update={"diff": _NO_ROOM})


def _change(
    root: Path, base: Revision, head: Revision, path: str, is_definition: bool, suites: Sequence[Suite]
) -> FileChange:
    diff = file_diff(root, base, head, path)
    left_out = len(diff) - MOST_CHARACTERS
    return FileChange(
        path=path,
        role="definition" if is_definition else "watched",
        scenarios=tuple(dict.fromkeys(_scenarios(path, suites))),
        diff=f"{diff[:MOST_CHARACTERS]}\n… {left_out:,} characters left out" if left_out > 0 else diff,
    )


def _scenarios(path: str, suites: Sequence[Suite]) -> Iterator[str]:
    """Yield the scenarios whose own file or template contains the path."""
    for suite in suites:
        for scenario in suite.scenarios:
            inside = scenario.template is not None and PurePosixPath(path).is_relative_to(scenario.template)
            if path == scenario.file or inside:
                yield scenario.name
