"""Files where a command could have laid a trap: read, copied and written without following a link, or waiting.

Nothing of the command runs any more when this is used: what is looked at stays what it is.
"""

from __future__ import annotations

import os
import shutil
import stat
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path, PurePosixPath
from typing import BinaryIO

_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW
DEEPEST = 50  # folders in folders that anything is kept of
_NEW_FILE = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW


def open_regular(path: Path | str, folder: int | None = None) -> BinaryIO | None:
    """Open a file, relative to an open `folder` if there is one; None unless it is a regular file, and no link."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK, dir_fd=folder)
    except OSError:
        return None
    if stat.S_ISREG(os.fstat(descriptor).st_mode):
        return os.fdopen(descriptor, "rb")
    os.close(descriptor)
    return None


def read_output(path: Path, limit_bytes: int) -> tuple[str, bool]:
    """A file's text, and whether something is missing from it: of a longer file only both ends are read.

    Bytes that are not UTF-8 are replaced. A file that the command has removed, or put something else in place of, is
    ("", True).
    """
    file = open_regular(path)
    if file is None:
        return "", True
    with file:
        size = os.fstat(file.fileno()).st_size
        if size <= limit_bytes:
            return file.read(limit_bytes).decode(errors="replace"), False
        half = limit_bytes // 2
        start = file.read(half).decode(errors="replace")
        file.seek(size - half)
        end = file.read(half).decode(errors="replace")
        return f"{start}\n[… {size - 2 * half} bytes left out …]\n{end}", True


def copy_file(source: Path, target: Path) -> None:
    """Copy a regular file; of anything else nothing is made."""
    file = open_regular(source)
    if file is not None:
        with file, target.open("wb") as copy:
            shutil.copyfileobj(file, copy)


def copy_plain(source: Path, target: Path, limit_bytes: int) -> int:
    """Copy the regular files below `source`, as many as fit into the limit; returns how many entries were left out.

    The copies are ours, with no right that a command has given them.
    """
    left = limit_bytes
    left_out = 0
    for folder, folders, names, descriptor in os.fwalk(source, follow_symlinks=False):
        place = Path(folder).relative_to(source)
        if len(place.parts) == DEEPEST:
            left_out += len(folders)
            folders.clear()
        for name in names:
            copied = _copy_one(name, descriptor, target / place / name, left)
            left -= copied or 0
            left_out += copied is None
    return left_out


def _copy_one(name: str, folder: int, target: Path, limit_bytes: int) -> int | None:
    """The bytes copied; None if it is no regular file, is too large, or its path is too long to be made again."""
    with suppress(OSError):
        file = open_regular(name, folder)
        if file is None:
            return None
        with file:
            size = os.fstat(file.fileno()).st_size
            if size > limit_bytes:
                return None
            target.parent.mkdir(parents=True, exist_ok=True)
            with target.open("wb") as copy:
                shutil.copyfileobj(file, copy)
            return size
    return None


def remove_tree(folder: Path) -> None:
    """Remove it with all below it, however deep that is, and closed to its owner or not; what cannot go stays."""
    for command in (["rm", "-rf"], ["chmod", "-R", "u+rwX"], ["rm", "-rf"]):
        if os.path.lexists(folder):
            subprocess.run([*command, "--", str(folder)], capture_output=True, check=False)


def write_below(root: Path, name: str, text: str, owner: tuple[int, int] | None = None) -> Path:
    """Write the file `name` below `root`, in the place of whatever stands there; it is the owner's (user and group)."""
    *folders, last = PurePosixPath(name).parts
    with _folder(root, folders, owner) as folder:
        _remove(last, folder)
        descriptor = os.open(last, _NEW_FILE, 0o600, dir_fd=folder)
        with os.fdopen(descriptor, "w", encoding="utf-8") as file:
            file.write(text)
            if owner is not None:
                os.fchown(file.fileno(), *owner)
    return root / name


@contextmanager
def _folder(root: Path, names: list[str], owner: tuple[int, int] | None) -> Iterator[int]:
    """The folder `names` below `root`, open; made where it is not there yet."""
    folder = os.open(root, _FOLDER)
    try:
        for name in names:
            inner = _inner_folder(folder, name, owner)
            os.close(folder)
            folder = inner
        yield folder
    finally:
        os.close(folder)


def _inner_folder(folder: int, name: str, owner: tuple[int, int] | None) -> int:
    with suppress(OSError):
        return os.open(name, _FOLDER, dir_fd=folder)
    _remove(name, folder)
    os.mkdir(name, 0o700, dir_fd=folder)
    if owner is not None:
        os.chown(name, *owner, dir_fd=folder, follow_symlinks=False)
    return os.open(name, _FOLDER, dir_fd=folder)


def _remove(name: str, folder: int) -> None:
    """Whatever is there but a link's target."""
    try:
        os.unlink(name, dir_fd=folder)
    except FileNotFoundError:
        return
    except IsADirectoryError:
        shutil.rmtree(name, dir_fd=folder)
