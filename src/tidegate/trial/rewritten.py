"""Files that checks read: finds those that a trial has changed."""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from itertools import count
from pathlib import Path

from tidegate.model.trial import LINK, MANY
from tidegate.text.shorten import shown_name
from tidegate.trial.safe_files import Content, content_of
from tidegate.trial.sandbox.file_jail import SHARED_MEMORY
from tidegate.trial.snapshot import Snapshot
from tidegate.trial.workspace import (
    NOT_AT_THE_START,
    OF_GIT,
    Prepared,
    contents,
    everything_below,
    refs_of,
    repositories,
)
from tidegate.vcs.links import MOST_LINKS

BRANCHES, TAGS, REMOTES = "refs/heads/", "refs/tags/", "refs/remotes/"
_KINDS = (TAGS, BRANCHES, REMOTES)  # as git looks for them
_REPLACED = "refs/replace"
_ABBREVIATED = re.compile(r"(?=.*[a-f])(?=.*\d)[0-9a-f]{7,40}")  # of a commit, which a ref of this name hides
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
        self.look(is_start=True)
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
                yield from [name] if _ABBREVIATED.fullmatch(short) else ()

    @property
    def made(self) -> tuple[str, ...]:
        """The files that setup commands have made, and the links, with `LINK` and where they lead; of more than
        MOST_MADE, only the links.
        """
        return named(self._links | (self._made if len(self._made) <= MOST_MADE else {MANY}))

    def look(self, read: Snapshot | None = None, *, is_start: bool = False) -> None:
        """Note which of the files and folders differ from the last look, `.` for the workspace's own rights: all if its
        owner cannot use it.

        Their contents are compared, since a mapped file changes without a new time. `read`: what the agent has left,
        without `.git`. `is_start`: what is new belongs to the start.
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
        if not is_start:
            self._look_at_new(read, places)
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

    def _look_at_new(self, read: Snapshot | None, places: Iterable[str]) -> None:
        """Note new links to what a check brings along, or finds from the start, new repositories in folders of the
        start, and new packs: of one object in two packs, git shows the newer one.
        """
        packs = [f"{place}/objects/pack" for place in places]
        names = {*(read or ())}
        try:
            for folder in (*packs, *([""] if read is None else [])):
                below = everything_below(self._workspace / folder)
                names |= {path.relative_to(self._workspace).as_posix() for path in below}
        except OSError:
            self.rewritten.add(".")  # not all of it can be read: its rights refuse that, or paths are too long
        new = names - self._start.keys()
        self.rewritten |= {*packs}.intersection(name.rpartition("/")[0] for name in new)
        for name in (name for name in new if not name.startswith(".git/")):
            if name.endswith("/.git") and name.removesuffix("/.git") in self._start:
                self.rewritten.add(name)
            link = content_of(self._workspace / name, ()) if read is None else read[name].content
            if link and _is_link(link) and self._supplies(name):
                self.rewritten.add(self._led(name, link))

    def _supplies(self, name: str) -> bool:
        """Return True if this link leads to a device, to what a process has, or to the start."""
        to = _end_of(self._workspace / name)
        own = os.fspath(self._workspace)
        inside = to.removeprefix(f"{own}/") in self._start or f"{own}/".startswith(f"{to.rstrip('/')}/")
        is_device = f"{to}/".startswith(("/proc/", "/dev/")) and not to.startswith(f"{SHARED_MEMORY}/")
        return inside or (is_device and to != os.devnull)


def _end_of(link: Path) -> str:
    """Return where a link leads at last, over other links. What is below /proc and /dev is not followed: another
    process finds other files there.
    """
    here, parts, links = link.parent, [link.name], 0
    while parts:
        part = parts.pop()
        here = here.parent if part == ".." else here / part
        if str(here) == "/proc" or (str(here.parent) == "/dev" and str(here) != SHARED_MEMORY):
            return str(here.joinpath(*reversed(parts)))
        with suppress(OSError):
            to = os.fspath(here.readlink())
            links += 1
            if links > MOST_LINKS:
                return "/proc"  # where it leads is not known
            here = Path("/") if to.startswith("/") else here.parent
            parts += reversed(Path(to.lstrip("/")).parts)
    return str(here)


def _is_link(content: Content) -> bool:
    return stat.S_ISLNK(content.kind)
