"""Puts a side's guidance files into the workspace while the agent runs. Setup, checks and scripts find base's."""

from __future__ import annotations

import os
import shutil
import stat
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path, PurePosixPath

from tidegate.trial.directories import Folders
from tidegate.trial.git_index import blobs, with_states
from tidegate.trial.processes import Account
from tidegate.trial.safe_files import Content, content_of, copy_below, folder_below, open_regular
from tidegate.trial.workspace import INDEX, Prepared

LARGEST_INDEX = 64 << 20  # bytes


@contextmanager
def guidance_for_agent(
    prepared: Prepared, of_agent: Prepared, folders: Folders, account: Account | None
) -> Iterator[set[str]]:
    """Put the files of `of_agent` in place of those of `prepared`, and afterwards back what was there.

    A file that the trial has written is part of its outcome, and stays. Yields the names of those, filled at the end.
    Raises OSError if a file cannot be put.
    """
    swap = _Swap(prepared, of_agent, folders, account)
    swap.begin()
    try:
        yield swap.written
    finally:
        with suppress(OSError):  # the trial has removed the workspace
            swap.end()


class _Swap:
    """What is put, and what was in its place: kept aside with its rights and times.

    What the setup has made or changed stays: it would have overwritten a file of the side, too.
    """

    def __init__(self, prepared: Prepared, of_agent: Prepared, folders: Folders, account: Account | None) -> None:
        self._workspace, self._aside, self._account = folders.workspace, folders.scratch / "aside", account
        self._base, self._source, self._guidance = prepared.folder, of_agent.folder, of_agent.guidance
        before, after = prepared.contents, of_agent.contents
        differ = {name for name, _ in before.items() ^ after.items()}
        both = {name for name in differ if _is_folder(before.get(name)) and _is_folder(after.get(name))}
        self._wanted = {name: after.get(name) for name in differ - both if self._is_as_in(before, name)}
        self._assumed = set[str]()
        self._kept: list[str] = []
        self._made: list[str] = []
        self._states: dict[str, object] = {}
        self.written = set[str]()

    def begin(self) -> None:
        """Put the side's files. Those of `prepared` that it lacks go, with the folders that are empty then."""
        if self._wanted:
            self._aside.mkdir(mode=0o700)
        for name in sorted(self._wanted, reverse=True):
            self._clear(name)
        for name in sorted(self._files):
            self._put(name, self._source)
        if self._wanted:
            self._put_index()
        self._states = {name: self._state(name) for name in (*self._files, *self._guidance)}

    def end(self) -> None:
        """Remove the side's files that the trial has left alone, and move back what was in their place."""
        self.written |= {name for name, state in self._states.items() if self._state(name) != state}
        changed = [name for name, has in self._files.items() if not self._is_removed(name, has)]
        for name in reversed(self._made):
            with suppress(OSError), _around(self._workspace, name) as (folder, last):  # the trial may use it
                os.rmdir(last, dir_fd=folder)
        for number, name in reversed(list(enumerate(self._kept))):
            is_free = not os.path.lexists(self._workspace / name)
            if is_free and not any(f"{one}/".startswith(f"{name}/") for one in changed):
                with suppress(OSError), _around(self._workspace, name) as (folder, last):
                    os.rename(self._aside / str(number), last, dst_dir_fd=folder)
        if INDEX in changed:
            self._look_again()

    def _put_index(self) -> None:
        """Let git take the side's files for unchanged until the trial writes to them, and those that it lacks."""
        if (index := self._index()) is None or not (names := self._as_in_base(index)):
            return
        states = {name: self._lstat(name) for name in names if name in self._files}
        made = self._aside / "made"
        (made / INDEX).parent.mkdir(parents=True)
        self._assumed = names - states.keys()
        (made / INDEX).write_bytes(with_states(index, states, dict.fromkeys(self._assumed, True)))
        shutil.copystat(self._workspace / INDEX, made / INDEX)
        self._wanted[INDEX] = content_of(made / INDEX)
        self._clear(INDEX)
        self._put(INDEX, made)

    def _look_again(self) -> None:
        """Let git find what is there now, in an index that the trial has written."""
        if (index := self._index()) is not None:
            names = self._as_in_base(index)
            states = {name: None if name in self.written else self._lstat(name) for name in names}
            about, made = (self._workspace / INDEX).lstat(), self._aside / "made" / INDEX
            made.write_bytes(with_states(index, states, dict.fromkeys(self._assumed, False)))
            made.chmod(stat.S_IMODE(about.st_mode))
            copy_below(self._workspace, INDEX, made, self._account)
            os.utime(self._workspace / INDEX, ns=(about.st_atime_ns, about.st_mtime_ns))

    def _as_in_base(self, index: bytes) -> set[str]:
        """Return the names of files that differ between the sides, and that the index has as base does."""
        base = blobs((self._base / INDEX).read_bytes())
        return {name for name, blob in blobs(index).items() if name in self._wanted and blob == base.get(name)}

    def _lstat(self, name: str) -> os.stat_result | None:
        with suppress(OSError):
            return (self._workspace / name).lstat()
        return None

    def _index(self) -> bytes | None:
        with suppress(OSError), _around(self._workspace, INDEX) as (folder, last):
            if file := open_regular(last, folder):
                with file:
                    index = file.read(LARGEST_INDEX + 1)
                    return index if len(index) <= LARGEST_INDEX else None
        return None

    @property
    def _files(self) -> dict[str, Content]:
        return {name: has for name, has in self._wanted.items() if has is not None and not _is_folder(has)}

    def _is_as_in(self, before: Mapping[str, Content], name: str) -> bool:
        """Return True if the setup has left alone what has that name, and the folders around it."""
        around = [(one, content_of(self._workspace / one, ())) for one in _folders_of(name)]
        is_moved = any(
            _differ(now, before[one]) if one in before else now is not None and not _is_folder(now)
            for one, now in around
        )
        return not is_moved and content_of(self._workspace / name) == before.get(name)

    def _state(self, name: str) -> tuple[int, int] | None:
        """Return what changes if the file is written, with whatever text."""
        state = self._lstat(name)
        return state and (state.st_ino, state.st_ctime_ns)

    def _clear(self, name: str) -> None:
        """Move aside what has that name, unless it is a folder that is used."""
        place, wanted = self._workspace / name, self._wanted[name]
        if not os.path.lexists(place) or (place.is_dir() and not place.is_symlink() and any(place.iterdir())):
            return
        if not (_is_folder(wanted) and _is_folder(content_of(place, ()))):
            with _around(self._workspace, name) as (folder, last):
                os.rename(last, self._aside / str(len(self._kept)), src_dir_fd=folder)
            self._kept.append(name)

    def _put(self, name: str, source: Path) -> None:
        """Copy the file and make the folders around it, unless the setup uses a folder in its place."""
        for one in (*_folders_of(name), name):
            own, target = source / one, self._workspace / one
            if os.path.lexists(target):
                continue
            with _around(self._workspace, one):
                if own.is_dir():
                    target.mkdir()
                    self._made.append(one)
                else:
                    shutil.copyfile(own, target)
                shutil.copystat(own, target)
                if self._account is not None:
                    os.chown(target, *self._account)

    def _is_removed(self, name: str, has: Content) -> bool:
        """Remove the file if it is as it was put."""
        with suppress(OSError), _around(self._workspace, name) as (folder, last):
            if name not in self.written and content_of(self._workspace / name, {has.size}) == has:
                os.unlink(last, dir_fd=folder)
                return True
        return False


def _folders_of(name: str) -> Iterator[str]:
    """Yield the folders around a file, the outermost first."""
    yield from (str(one) for one in reversed(PurePosixPath(name).parents[:-1]))


def _is_folder(has: Content | None) -> bool:
    return has is not None and stat.S_ISDIR(has.kind)


def _differ(now: Content | None, then: Content) -> bool:
    return now is None or stat.S_IFMT(now.kind) != stat.S_IFMT(then.kind)


@contextmanager
def _around(workspace: Path, name: str) -> Iterator[tuple[int, str]]:
    """Yield a descriptor of the folder that the file is in, whose times stay, and the file's name in it."""
    *folders, last = PurePosixPath(name).parts
    with folder_below(workspace, folders) as folder:
        state = os.fstat(folder)
        yield folder, last
        os.utime(folder, ns=(state.st_atime_ns, state.st_mtime_ns))
