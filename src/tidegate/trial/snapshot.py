"""A small folder in memory: written again for each trial, and compared with what the trial has made of it.

Larger folders, and those with entries of other kinds, have no snapshot; `cp` and git handle them.
"""

from __future__ import annotations

import hashlib
import os
import stat
import time
from collections.abc import Iterator, Mapping
from itertools import islice
from typing import NamedTuple

from tidegate.trial.safe_files import Content

MOST_ENTRIES = 500
MOST_BYTES = 512 << 10  # a run holds one snapshot per template and side
_NEW = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW


class Entry(NamedTuple):
    """A folder, a link or a regular file. `data` is a file's content or a link's target; `mode` includes the type."""

    mode: int
    modified_ns: int
    data: bytes = b""

    @property
    def git_mode(self) -> int:
        """The mode that git stores for a link or a regular file."""
        if self.is_link:
            return 0o120000
        return 0o100755 if self.mode & stat.S_IXUSR else 0o100644

    @property
    def is_folder(self) -> bool:
        """True for a folder."""
        return stat.S_ISDIR(self.mode)

    @property
    def is_link(self) -> bool:
        """True for a symbolic link."""
        return stat.S_ISLNK(self.mode)

    @property
    def content(self) -> Content:
        """What `content_of` returns."""
        if self.is_folder:
            return Content(self.mode, 0)
        digest = self.data if self.is_link or not self.data else hashlib.sha256(self.data).digest()
        return Content(self.mode, len(self.data), digest)


Snapshot = Mapping[str, Entry]  # by path relative to the folder; "" is the folder, and precedes what is in it


def take(folder: str, *, leave_out: str | None = None) -> Snapshot | None:
    """Return the folder's snapshot without the entry `leave_out` at its top.

    Return None if the folder is too large, cannot be read, or holds entries of other kinds or hard links.
    """
    entries: dict[str, Entry] = {}
    size = 0
    try:
        for path, state in _walk(folder, leave_out):
            entry = _read(_inside(folder, path), state)
            if entry is None or len(entries) == MOST_ENTRIES or (size := size + len(entry.data)) > MOST_BYTES:
                return None
            entries[path] = entry
    except OSError:
        return None
    return entries


def has_attributes(snapshot: Snapshot, folder: str) -> bool:
    """Return True if anything in the folder has extended attributes, which a snapshot does not hold."""
    return any(os.listxattr(_inside(folder, path), follow_symlinks=False) for path in snapshot)


def write(snapshot: Snapshot, folder: str, until: float, owner: tuple[int, int] | None = None) -> None:
    """Create these entries, for the owner (user, group) if given; the folder itself too, if the snapshot has it.

    Raises TimeoutError after `until`, on the monotonic clock.
    """
    for path, entry in snapshot.items():
        if time.monotonic() > until:
            raise TimeoutError
        _create(_inside(folder, path), entry, owner)
    for path, entry in reversed(list(snapshot.items())):  # last: a folder may be read-only, and its time must stay
        if entry.is_folder:
            place = _inside(folder, path)
            os.chmod(place, stat.S_IMODE(entry.mode))  # noqa: PTH101
            os.utime(place, ns=(entry.modified_ns, entry.modified_ns))


def _inside(folder: str, path: str) -> str:
    return f"{folder}/{path}" if path else folder


def _walk(folder: str, leave_out: str | None) -> Iterator[tuple[str, os.stat_result]]:
    """Yield every entry's path and state, a folder before what is in it, without following links."""
    yield "", (state := os.lstat(folder))
    waiting = [""] if stat.S_ISDIR(state.st_mode) else []
    while waiting:
        inside = waiting.pop()
        with os.scandir(_inside(folder, inside)) as entries:
            for entry in sorted(islice(entries, MOST_ENTRIES + 1), key=lambda entry: entry.name):
                path = f"{inside}/{entry.name}" if inside else entry.name
                if path == leave_out:
                    continue
                yield path, entry.stat(follow_symlinks=False)
                if entry.is_dir(follow_symlinks=False):
                    waiting.append(path)


def _read(path: str, state: os.stat_result) -> Entry | None:
    """Return the entry at the path, or None if a snapshot cannot hold it."""
    if stat.S_ISDIR(state.st_mode):
        return Entry(state.st_mode, state.st_mtime_ns)
    if stat.S_ISLNK(state.st_mode):
        return Entry(state.st_mode, state.st_mtime_ns, os.fsencode(os.readlink(path)))  # noqa: PTH115
    if not stat.S_ISREG(state.st_mode) or state.st_nlink > 1 or state.st_size > MOST_BYTES:
        return None
    file = os.open(path, os.O_RDONLY | os.O_NOFOLLOW)
    try:
        data = os.read(file, state.st_size)
        return Entry(state.st_mode, state.st_mtime_ns, data)
    finally:
        os.close(file)


def _create(path: str, entry: Entry, owner: tuple[int, int] | None) -> None:
    times = (entry.modified_ns, entry.modified_ns)
    if entry.is_folder:
        os.mkdir(path, 0o700)  # noqa: PTH102
    elif entry.is_link:
        os.symlink(entry.data, os.fsencode(path))  # noqa: PTH211
        os.utime(path, ns=times, follow_symlinks=False)
    else:
        file = os.open(path, _NEW, 0o600)
        try:
            data = entry.data
            while data:
                data = data[os.write(file, data) :]
            if owner is not None:
                os.fchown(file, *owner)
            os.fchmod(file, stat.S_IMODE(entry.mode))
            os.utime(file, ns=times)
        finally:
            os.close(file)
        return
    if owner is not None:
        os.chown(path, *owner, follow_symlinks=False)
