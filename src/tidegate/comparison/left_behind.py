"""Compare the files that base's and head's agents left behind: output that a call does not show is there."""

from __future__ import annotations

import re
from collections.abc import Sequence
from difflib import unified_diff
from itertools import islice

from tidegate.text.shorten import shortened

_FILE = re.compile(r"^diff --git a/.* b/(.*)$")
_MOST_FILES = 3
_MOST_LINES = 20  # of each file
_LINE = 200


def files_apart(base: Sequence[str], head: str) -> str:
    """Return the lines of files that head's agent left otherwise than base's, as a diff; '' if there are none.

    `base` and `head` are diffs of workspaces. Files that differ between base's own trials are left out.
    """
    befores, after = [_added(diff) for diff in base], _added(head)
    names = sorted({name for files in (*befores, after) for name in files})
    parts: list[str] = []
    for name in names:
        first, *others = [files.get(name, []) for files in befores] or [[]]
        if befores and all(other == first for other in others) and after.get(name, []) != first:
            changes = islice(unified_diff(first, after.get(name, []), n=1, lineterm=""), 2, None)  # without file names
            lines = [shortened(line, _LINE) for line in changes if not line.startswith("@@")]
            parts.append("\n".join([f"  {name}:", *islice(lines, _MOST_LINES)]))
    return "\n".join(parts[:_MOST_FILES])


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
