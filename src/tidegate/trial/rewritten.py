"""Files that checks read: finds those that a trial has changed, and puts base's guidance files in place of head's."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from tidegate.model.trial import LINK
from tidegate.trial.processes import Account
from tidegate.trial.safe_files import Content, content_of, copy_below, remove_below
from tidegate.trial.snapshot import Snapshot
from tidegate.trial.workspace import NOT_AT_THE_START, OF_GIT, Prepared, contents, everything_below

BRANCHES, TAGS = "refs/heads/", "refs/tags/"
MOST_MADE = 1_000  # names of files that a trial keeps
USABLE = 0o500  # a folder's owner can list it and use what is in it


def named(files: Iterable[str]) -> tuple[str, ...]:
    """Return the names of files, sorted, as text: a byte that is not UTF-8 becomes `\\xff`."""
    return tuple(sorted(os.fsencode(name).decode(errors="backslashreplace") for name in files))


class WatchedFiles:
    """The files, links and folders that checks find at the start: those of base's workspace, and what the setup makes.

    A file that only head's workspace has is not there while checks run, and must not be.
    """

    def __init__(self, prepared: Prepared, of_base: Prepared | None, workspace: Path) -> None:
        of_head, self._workspace = prepared.contents, workspace
        on_base = (of_base or prepared).contents
        differ = of_head.items() ^ on_base.items()  # of folders: one may be there for guidance files alone
        folders = {name for name, has in differ if stat.S_ISDIR(has.kind)}
        start = {**dict.fromkeys(of_head), **on_base}
        self._start = {name: has for name, has in start.items() if name not in folders}
        of_git = {*OF_GIT, *(name for name in (*self._start, *of_head) if name.startswith(".git/"))}
        self._start |= {name: of_head.get(name) for name in of_git}  # its own commit, with its own guidance files
        self._guidance = {name: has for name, has in self._start.items() if has != of_head.get(name)}
        self._of_head = {name: of_head.get(name) for name in self._guidance}
        self.rewritten = set[str]()
        self._made = set[str]()

    def begin(self) -> None:
        """Add what a setup command has made. Guidance files of which the sides have different ones stay as on base."""
        self.look()
        self.rewritten -= self._guidance.keys()
        has = contents(self._workspace)
        made = has.keys() - self._start.keys()
        self._made |= made | {f"{name}{LINK}" for name in made if stat.S_ISLNK(has[name].kind)}
        self._start = {**dict.fromkeys(self._start), **has, **self._guidance}

    @property
    def _hiding(self) -> Iterator[str]:
        """The files that git prefers to the branches and tags of the start, and to those of now (gitrevisions)."""
        now = (one for one in everything_below(self._workspace / ".git/refs") if not one.is_dir())
        names = (one.relative_to(self._workspace).as_posix() for one in now)
        for name in (f".git/{BRANCHES}main", *self._start, *names):
            branch, tag = (name.partition(f".git/{folder}")[2] for folder in (BRANCHES, TAGS))
            if short := branch or tag:
                yield from (f".git/{short}", f".git/refs/{short}", *([f".git/{TAGS}{short}"] if branch else []))

    @property
    def made(self) -> tuple[str, ...] | None:
        """The files that setup commands have made, links a second time with `LINK`; None if they are too many."""
        return named(self._made) if len(self._made) <= MOST_MADE else None

    def look(self, read: Snapshot | None = None) -> None:
        """Note which of the files and folders differ now: all if the workspace's owner cannot use it.

        Their contents are compared, since a mapped file changes without a new time. `read`: what the agent has left,
        with head's guidance files and without `.git`.
        """
        new = (name for name in (*NOT_AT_THE_START, *self._hiding) if name not in self._start)
        self.rewritten |= {name for name in new if os.path.lexists(f"{self._workspace}/{name}")}
        usable = self._workspace.lstat().st_mode & USABLE == USABLE
        for name, has in (self._start if read is None else {**self._start, **self._of_head}).items():
            if read is None or name.startswith(".git/"):
                found = content_of(self._workspace / name, {has.size} if has else ())
            else:
                found = read[name].content if name in read else None
            if found != has or (has and not usable):
                self.rewritten.add(name)


@contextmanager
def guidance_of_base(
    prepared: Prepared, of_base: Prepared | None, workspace: Path, account: Account | None, *, strictly: bool = False
) -> Iterator[None]:
    """Put base's guidance files in place of those that the trial has left alone, and afterwards head's back.

    A file that the trial has changed is part of its outcome. Strictly: raise OSError if head's cannot be put back.
    """
    if of_base is None or not workspace.is_dir():
        yield
        return
    names = sorted({*prepared.guidance, *of_base.guidance})
    start, base = prepared.contents, of_base.contents
    differ = (name for name in names if start.get(name) != base.get(name))
    swapped = [name for name in differ if _is_untouched(start.get(name), workspace / name)]
    for name in swapped:
        _put(of_base.folder, workspace, name, account)
    try:
        yield
    finally:
        for name in swapped:
            with suppress(*[] if strictly else [OSError]):
                _put(prepared.folder, workspace, name, account)


def _is_untouched(start: Content | None, now: Path) -> bool:
    return content_of(now, {start.size}) == start if start else not os.path.lexists(now)


def _put(source: Path, workspace: Path, name: str, account: Account | None) -> None:
    if (source / name).is_file():
        copy_below(workspace, name, source / name, account)
    else:
        remove_below(workspace, name)
