"""The demo's repository: the example `taskmgr` with a base branch and three pull requests."""

from __future__ import annotations

import os
import shutil
from importlib.resources import files
from pathlib import Path
from typing import Literal, NamedTuple

from tidegate.model.result import VerdictState
from tidegate.model.value import Value
from tidegate.vcs.git import must

Name = Literal["harmless", "regression", "improvement"]


class PullRequest(Value):
    """One of the demo's pull requests: git revisions of its two sides, and the expected verdict."""

    name: Name
    title: str
    base: str
    head: str
    expected: VerdictState


class _Edit(NamedTuple):
    """A replacement of text in one file."""

    file: str
    old: str
    new: str


HARMLESS = PullRequest(
    name="harmless",
    title="Move the counting of tasks to a function of its own",
    base="main",
    head="next-number",
    expected="passed",
)
REGRESSION = PullRequest(
    name="regression",
    title="Shorten --priority to --prio",
    base="main",
    head="shorter-flag",
    expected="failed",
)
IMPROVEMENT = PullRequest(
    name="improvement",
    title="Fix the example in the office's AGENTS.md",
    base="main~1",  # it is merged already, so its base is main's parent
    head="fix-office-guide",
    expected="passed",
)
PULL_REQUESTS = (HARMLESS, REGRESSION, IMPROVEMENT)

_OUTDATED = _Edit("scenarios/report/AGENTS.md", "export --format json", "export --json")
_EDITS: dict[Name, tuple[_Edit, ...]] = {
    "harmless": (
        _Edit(
            "taskmgr/store.py",
            '"id": max((task["id"] for task in tasks), default=0) + 1,',
            '"id": next_number(tasks),',
        ),
        _Edit(
            "taskmgr/store.py",
            "def find(",
            "def next_number(tasks):\n"
            '    """The number of the next new task."""\n'
            '    return max((task["id"] for task in tasks), default=0) + 1\n\n\n'
            "def find(",
        ),
    ),
    "regression": (
        _Edit("taskmgr/cli.py", 'add_argument("--priority", ', 'add_argument("--prio", dest="priority", '),
        _Edit("README.md", "add --priority high", "add --prio high"),
    ),
    "improvement": (_Edit(_OUTDATED.file, _OUTDATED.new, _OUTDATED.old),),
}

_DATE = "2026-01-05T09:00:00Z"  # constant, so that commit ids are reproducible
_IDENTITY = {
    "GIT_AUTHOR_NAME": "Tidegate demo",
    "GIT_AUTHOR_EMAIL": "demo@localhost",
    "GIT_AUTHOR_DATE": _DATE,
    "GIT_COMMITTER_NAME": "Tidegate demo",
    "GIT_COMMITTER_EMAIL": "demo@localhost",
    "GIT_COMMITTER_DATE": _DATE,
    "GIT_CONFIG_GLOBAL": os.devnull,
    "GIT_CONFIG_NOSYSTEM": "1",
}


def make_repository(folder: Path) -> tuple[PullRequest, ...]:
    """Create the repository in `folder`, which must not exist yet, and check out `main`.

    History of main: the example with one outdated guide, then the merged improvement. The other branches start there.
    """
    _copy_example(folder)
    _git(folder, "init", "--quiet", "--template=", "--initial-branch=main")
    _apply(folder, _OUTDATED)
    _commit(folder, "taskmgr 1.4.0")
    for pull_request in (IMPROVEMENT, HARMLESS, REGRESSION):
        _git(folder, "switch", "--quiet", "--create", pull_request.head, "main")
        for edit in _EDITS[pull_request.name]:
            _apply(folder, edit)
        _commit(folder, pull_request.title)
        _git(folder, "switch", "--quiet", "main")
        if pull_request is IMPROVEMENT:
            _git(folder, "merge", "--quiet", "--ff-only", pull_request.head)
    return PULL_REQUESTS


def _copy_example(folder: Path) -> None:
    source = Path(str(files("tidegate.examples"))) / "taskmgr"
    shutil.copytree(source, folder, ignore=shutil.ignore_patterns("__pycache__"))
    (folder / "bin" / "taskmgr").chmod(0o755)  # not every installer keeps the file mode


def _apply(folder: Path, edit: _Edit) -> None:
    """Apply the edit. Raises ValueError unless the old text occurs exactly once."""
    path = folder / edit.file
    text = path.read_text(encoding="utf-8")
    if text.count(edit.old) != 1:
        raise ValueError(f"{edit.file} of the example has {edit.old!r} {text.count(edit.old)} times, not once")
    path.write_text(text.replace(edit.old, edit.new), encoding="utf-8")


def _commit(folder: Path, message: str) -> None:
    _git(folder, "add", "--all", ".")
    _git(folder, "commit", "--quiet", f"--message={message}")


def _git(folder: Path, *arguments: str) -> None:
    must(folder, *arguments, env=_IDENTITY)
