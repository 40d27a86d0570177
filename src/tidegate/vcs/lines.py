"""Search the lines of a commit's files."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from tidegate.model.revision import Revision
from tidegate.vcs.git import git

PATIENCE_S = 20.0
MOST = 200  # lines


class Line(NamedTuple):
    """A line of a file of the commit; lines count from 1."""

    path: str
    number: int
    text: str


def lines_with(root: Path, revision: Revision, text: str, patterns: Sequence[str]) -> Iterator[Line]:
    """Yield the first lines that contain the text, in text files that match one of the globs (as in .gitignore)."""
    specs = [f":(glob){pattern}" for pattern in patterns]
    found = git(root, "grep", "-n", "-z", "-I", "-F", "-e", text, revision.sha, "--", *specs, timeout_s=PATIENCE_S)
    for line in found.stdout.splitlines()[:MOST]:
        path, number, content = (*line.removeprefix(f"{revision.sha}:").split("\0", 2), "", "")[:3]
        if number.isdigit():
            yield Line(path, int(number), content)
