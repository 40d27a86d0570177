"""Files that checks read: finds those that a trial has changed."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterable, Iterator
from pathlib import Path

from tidegate.model.trial import LINK
from tidegate.text.shorten import shown_name
from tidegate.trial.safe_files import Content, content_of
from tidegate.trial.snapshot import Snapshot
from tidegate.trial.workspace import NOT_AT_THE_START, OF_GIT, Prepared, contents, refs_of, repositories

BRANCHES, TAGS, REMOTES = "refs/heads/", "refs/tags/", "refs/remotes/"
_KINDS = (TAGS, BRANCHES, REMOTES)  # as git looks for them
_REPLACED = "refs/replace"
MOST_MADE = 1_000  # names of files that a trial keeps
USABLE = 0o500  # a folder's owner can list it and use what is in it


def named(files: Iterable[str]) -> tuple[str, ...]:
    """Return the names of files, sorted, as text: a byte that is not UTF-8 becomes `\\xff`."""
    return tuple(sorted(map(shown_name, files)))


class WatchedFiles:
    """The files, links and folders that checks find at the start: those of the workspace, and what the setup makes."""

    def __init__(self, prepared: Prepared, workspace: Path) -> None:
        self._workspace = workspace
        self._start: dict[str, Content | None] = {**dict.fromkeys(OF_GIT), **prepared.contents}
        self.rewritten = set[str]()
        self._made = set[str]()
        self._mode = workspace.lstat().st_mode

    def begin(self) -> None:
        """Add what a setup command has made."""
        self._mode = self._workspace.lstat().st_mode
        self.look()
        has = contents(self._workspace)
        made = has.keys() - self._start.keys()
        self._made |= made | {f"{name}{LINK}" for name in made if stat.S_ISLNK(has[name].kind)}
        self._start = {**dict.fromkeys(self._start), **has}

    def _hiding(self, place: str, refs: Iterable[str]) -> Iterator[str]:
        """Yield what git prefers to the refs of a repository at the start, and to those of now (gitrevisions)."""
        for name in (f".git/{BRANCHES}main", *self._start, *refs):
            kind = next((kind for kind in _KINDS if name.startswith(f"{place}/{kind}")), "")
            if short := name.removeprefix(f"{place}/{kind}") if kind else "":
                yield from (f"{place}/{before}{short}" for before in ("", "refs/", *_KINDS[: _KINDS.index(kind)]))

    @property
    def made(self) -> tuple[str, ...] | None:
        """The files that setup commands have made, links a second time with `LINK`; None if they are too many."""
        return named(self._made) if len(self._made) <= MOST_MADE else None

    def look(self, read: Snapshot | None = None) -> None:
        """Note which of the files and folders differ now, `.` for the workspace's own rights: all if its owner cannot
        use it.

        Their contents are compared, since a mapped file changes without a new time. `read`: what the agent has left,
        without `.git`.
        """
        places = repositories(self._start)
        refs = refs_of(self._workspace, places)
        for place in places:
            decisive = (*(f"{place}/{name}" for name in NOT_AT_THE_START), *self._hiding(place, refs))
            new = (name for name in decisive if name not in self._start)
            self.rewritten |= {name for name in new if name in refs or os.path.lexists(f"{self._workspace}/{name}")}
            if any(name.startswith(f"{place}/{_REPLACED}/") and name not in self._start for name in refs):
                self.rewritten.add(f"{place}/{_REPLACED}")
        mode = self._workspace.lstat().st_mode
        self.rewritten |= {"."} if mode != self._mode else set()
        usable = mode & USABLE == USABLE
        for name, has in self._start.items():
            if has and not has.kind:  # a ref
                found = refs.get(name)
            elif read is None or name.startswith(".git/"):
                found = content_of(self._workspace / name, {has.size} if has else ())
            else:
                found = read[name].content if name in read else None
            if found != has or (has and not usable):
                self.rewritten.add(name)
