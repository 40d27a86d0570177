"""Compare the files that base's and head's agents left behind: output that a call does not show is there."""

from __future__ import annotations

import re
from collections.abc import Sequence
from difflib import unified_diff
from itertools import islice

from tidegate.model.comparison import LeftFile
from tidegate.text.shorten import shortened

_FILE = re.compile(r"^diff --git a/.* b/(.*)$")
_MOST_FILES = 3
_MOST_LINES = 20  # of each file
_LINE = 200
_Lines = list[str] | None
_Files = dict[str, list[str]]


def files_apart(base: Sequence[str], head: str) -> tuple[LeftFile, ...]:
    """Return the files that head's agent left otherwise than base's, with their lines that differ.

    `base` and `head` are diffs of workspaces. Files that differ between base's own trials are left out, and so are
    those that have the same lines under another name, as temporary files have.
    """
    befores, after = [_added(diff) for diff in base], _added(head)
    names = sorted({name for files in (*befores, after) for name in files})
    found: list[LeftFile] = []
    for name in names if befores else ():
        first, *others = [files.get(name) for files in befores]
        now = after.get(name)
        if (
            any(other != first for other in others)
            or now == first
            or _is_elsewhere(name, first, now, befores[0], after)
        ):
            continue
        changes = islice(unified_diff(first or [], now or [], n=1, lineterm=""), 2, None)  # without file names
        lines = [shortened(line, _LINE) for line in changes if not line.startswith("@@")]
        if lines:
            found.append(LeftFile(path=name, lines=tuple(lines[:_MOST_LINES])))
    return tuple(found[:_MOST_FILES])


def _is_elsewhere(name: str, first: _Lines, now: _Lines, before: _Files, after: _Files) -> bool:
    """Return True if only one side has the file, and the other one has its lines under a name that this side lacks."""
    if (first is None) == (now is None):
        return False
    other, own = (before, after) if first is None else (after, before)
    lines, folder = now if first is None else first, name.rpartition("/")[0]
    alike = (one for one in other if one not in own and one.rpartition("/")[0] == folder)
    return any(other[one] == lines for one in alike)


def _added(diff: str) -> dict[str, list[str]]:
    """Return the added lines of each file of a diff."""
    files: dict[str, list[str]] = {}
    lines: list[str] = []
    in_hunk = False
    for line in diff.splitlines():
        if found := _FILE.match(line):
            lines, in_hunk = files.setdefault(found[1], []), False
        elif line.startswith("@@"):
            in_hunk = True
        elif in_hunk and line.startswith("+"):
            lines.append(line[1:])
    return files
