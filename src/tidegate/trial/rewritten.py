"""Files that checks read: finds those that a trial has changed."""

from __future__ import annotations

import os
import stat
from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import count
from pathlib import Path

from tidegate.model.trial import LINK, MANY
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
    """The files, links and folders that checks find at the start: those of the workspace, and what the setup makes.

    `rewritten` are the names of those that have changed, each with the command that changed it, unless it was the
    agent: `notes.txt (setup 2)`.
    """

    def __init__(self, prepared: Prepared, workspace: Path, hide: Callable[[str], str] = str) -> None:
        self._workspace, self._hide = workspace, hide
        self._start: dict[str, Content | None] = {**dict.fromkeys(OF_GIT), **prepared.contents}
        self.rewritten = set[str]()
        self._made, self._links = set[str](), set[str]()
        self._mode = workspace.lstat().st_mode
        self._commands = count(1)
        self.by = ""  # what changes files now, as the end of their names

    def begin(self) -> None:
        """Add what a setup command has made."""
        self.by = f" (setup {next(self._commands)})"
        self._mode = self._workspace.lstat().st_mode
        self.look()
        self.by = ""
        has = contents(self._workspace)
        self._made |= has.keys() - self._start.keys()
        self._links |= {self._led(name, has[name]) for name in self._made & has.keys() if _is_link(has[name])}
        self._start = {**dict.fromkeys(self._start), **has}

    def _hiding(self, place: str, refs: Iterable[str]) -> Iterator[str]:
        """Yield what git prefers to the refs of a repository at the start, and to those of now (gitrevisions)."""
        for name in (f".git/{BRANCHES}main", *self._start, *refs):
            kind = next((kind for kind in _KINDS if name.startswith(f"{place}/{kind}")), "")
            if short := name.removeprefix(f"{place}/{kind}") if kind else "":
                yield from (f"{place}/{before}{short}" for before in ("", "refs/", *_KINDS[: _KINDS.index(kind)]))

    @property
    def made(self) -> tuple[str, ...]:
        """The files that setup commands have made, and the links, with `LINK` and where they lead; of more than
        MOST_MADE, only the links.
        """
        return named(self._links | (self._made if len(self._made) <= MOST_MADE else {MANY}))

    def look(self, read: Snapshot | None = None) -> None:
        """Note which of the files and folders differ from the last look, `.` for the workspace's own rights: all if its
        owner cannot use it.

        Their contents are compared, since a mapped file changes without a new time. `read`: what the agent has left,
        without `.git`.
        """
        places = repositories(self._start)
        refs = refs_of(self._workspace, places)
        found = dict[str, Content | None]()
        for place in places:
            decisive = (*(f"{place}/{name}" for name in NOT_AT_THE_START), *self._hiding(place, refs))
            for name in (name for name in decisive if name not in self._start):
                now = refs.get(name) or content_of(self._workspace / name, ())
                found |= {name: now} if now else {}
            if any(name.startswith(f"{place}/{_REPLACED}/") and name not in self._start for name in refs):
                found[f"{place}/{_REPLACED}"] = None
        links = ((name, one.content) for name, one in (read or {}).items() if one.is_link)
        self.rewritten |= {self._led(name, link) for name, link in links if self._supplies(name, link)}
        mode = self._workspace.lstat().st_mode
        usable = mode & USABLE == USABLE
        for name, has in self._start.items():
            now = self._now(name, has, refs, read)
            if now != has or (has and not usable):
                found[name] = now
        self.rewritten |= {f"{name}{self.by}" for name in (*found, *(["."] if mode != self._mode else []))}
        self._start |= {name: now for name, now in found.items() if usable}
        self._mode = mode

    def _now(
        self, name: str, has: Content | None, refs: Mapping[str, Content], read: Snapshot | None
    ) -> Content | None:
        if has and not has.kind:  # a ref
            return refs.get(name)
        if read is None or name.startswith(".git/"):
            return content_of(self._workspace / name, {has.size} if has and (has.digest or not has.size) else ())
        return read[name].content if name in read else None

    def _led(self, name: str, link: Content) -> str:
        return f"{name}{LINK}{self._hide(os.fsdecode(link.digest))}"

    def _supplies(self, name: str, link: Content) -> bool:
        """Return True if it is a new link to what a check brings along, or finds from the start."""
        to = os.path.normpath((self._workspace / name).parent / os.fsdecode(link.digest))
        found = (
            to.startswith(("/proc/", "/dev/fd/", "/dev/stdin")) or to.removeprefix(f"{self._workspace}/") in self._start
        )
        return found and name not in self._start


def _is_link(content: Content) -> bool:
    return stat.S_ISLNK(content.kind)
