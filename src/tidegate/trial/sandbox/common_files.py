"""The files that every command of a run may read, held open by the supervisor.

To open 150 files of /etc for each command, for their rules of Landlock, takes more time than the rules themselves.

Like the supervisor, this file uses the standard library only.
"""

from __future__ import annotations

import errno
import os
import stat
import time
from collections.abc import Sequence
from fcntl import F_DUPFD, fcntl
from typing import NamedTuple

MANY = 8  # listed entries of one folder, from which on they are held open
LOWEST = 512  # number of a descriptor: the others stay below the limit of the command's open files
SURE_NS = 1_000_000_000  # with a change as new as this, another one could have the same time

DEVICE_FILES = ("null", "zero", "full", "random", "urandom", "tty", "ptmx", "pts")

Version = tuple[int, int, int]


class Held(NamedTuple):
    """Descriptors of files and of folders that commands inherit."""

    files: list[int]
    folders: list[int]


class CommonFiles:
    """The paths that every command of a run may read."""

    def __init__(self, paths: Sequence[str]) -> None:
        self.paths = tuple(paths)
        self._replaced: Sequence[str] | None = None
        self._inside: tuple[str, ...] = ()
        self._others: tuple[str, ...] = ()
        self._entries: list[_Entries] = []
        self._devices = _Entries("/dev", [f"/dev/{name}" for name in DEVICE_FILES])

    def set_replaced(self, folders: Sequence[str]) -> None:
        """Name the folders in whose place a command sees others: their files are not held open."""
        if self._replaced == folders:
            return
        self.close()
        self._replaced = folders
        start = tuple([f"{folder.rstrip('/')}/" for folder in (*folders, "/proc")])
        self._inside = tuple([path for path in self.paths if f"{path}/".startswith(start)])
        by_folder: dict[str, list[str]] = {}
        common = tuple([f"{path}/" for path in self.paths])
        for path in self.paths:
            target = os.path.realpath(path)
            if target != path and path not in self._inside and f"{target}/".startswith(common):
                continue  # a link to another one, whose rule is enough: /bin to /usr/bin
            by_folder.setdefault("" if path in self._inside else path.rpartition("/")[0], []).append(path)
        others = by_folder.pop("", [])  # with those of `/`, where file systems may be mounted meanwhile
        for folder, found in by_folder.items():
            if len(found) < MANY:
                others += found
            else:
                self._entries.append(_Entries(folder, found))
        self._others = tuple(others)

    @property
    def inside(self) -> Sequence[str]:
        """The paths in the folders that are replaced."""
        return self._inside

    def opened(self) -> tuple[Held, list[str]]:
        """Return what is held open, as it is now, and the paths that each command has to open."""
        held, paths = Held([], []), list(self._others)
        for entries in self._entries:
            entries.renew()
            held.files.extend(entries.held.files)
            held.folders.extend(entries.held.folders)
            paths += entries.others
        return held, paths

    def devices(self) -> tuple[Held, list[str]]:
        """Return the same of the devices that every command may use."""
        self._devices.renew()
        return self._devices.held, self._devices.others

    def close(self) -> None:
        """Close all files: a command that has no rules would inherit them."""
        for entries in (*self._entries, self._devices):
            entries.close()
        self._entries, self._replaced = [], None


class _Entries:
    """The listed entries of one folder. Links are not held open: where they lead to can change elsewhere."""

    def __init__(self, folder: str, paths: Sequence[str]) -> None:
        self._folder = folder
        self._paths = paths
        self._version: Version | None = None
        self.held = Held([], [])
        self.others: list[str] = []

    def renew(self) -> None:
        """Open all again, unless no entry of the folder has been replaced."""
        version = _version(self._folder)
        if version is not None and version == self._version:
            return
        self.close()
        self._version = version
        for path in self._paths:
            try:
                descriptor = _opened(path)
            except OSError:
                self.others.append(path)  # a link, or missing, or there are too many descriptors
                continue
            is_folder = stat.S_ISDIR(os.fstat(descriptor).st_mode)
            (self.held.folders if is_folder else self.held.files).append(descriptor)

    def close(self) -> None:
        for descriptor in (*self.held.files, *self.held.folders):
            os.close(descriptor)
        self.held, self.others, self._version = Held([], []), [], None


def _opened(path: str) -> int:
    """Return an inherited descriptor of a file or folder. Raises OSError for a link, and if there are too many."""
    descriptor = os.open(path, os.O_PATH | os.O_NOFOLLOW | os.O_CLOEXEC)
    try:
        if stat.S_ISLNK(os.fstat(descriptor).st_mode):
            raise OSError(errno.ELOOP, os.strerror(errno.ELOOP), path)
        return fcntl(descriptor, F_DUPFD, LOWEST)
    finally:
        os.close(descriptor)


def _version(folder: str) -> Version | None:
    """Return what changes when an entry of the folder is replaced; None if that cannot be known."""
    try:
        state = os.stat(folder)  # noqa: PTH116  (the supervisor stays small: no pathlib)
    except OSError:
        return None
    changed = state.st_ctime_ns
    return (state.st_dev, state.st_ino, changed) if time.time_ns() - changed > SURE_NS else None
