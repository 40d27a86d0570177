"""Reads, copies and writes files that a command may have replaced, without following links or blocking.

The command has ended when these functions are used, so files do not change between check and use.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import stat
import subprocess
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager, suppress
from io import BufferedReader
from pathlib import Path, PurePosixPath
from typing import Any, BinaryIO, NamedTuple, TypeVar

from tidegate.model.value import Value
from tidegate.text.redaction import Redaction

_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW
DEEPEST = 50  # levels of folders; deeper ones are not kept
_NEW_FILE = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW


def open_regular(path: Path | str, folder: int | None = None) -> BufferedReader | None:
    """Open a file, relative to the open `folder` if given. Return None unless it is a regular file and not a link."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK, dir_fd=folder)
    except OSError:
        return None
    if stat.S_ISREG(os.fstat(descriptor).st_mode):
        return os.fdopen(descriptor, "rb")
    os.close(descriptor)
    return None


SMALL = 64 << 10  # bytes that are read at once


class Content(NamedTuple):
    """What a file holds or a link leads to, and its rights; of a folder these alone."""

    kind: int  # of the file, and everybody's rights: its mode
    size: int
    digest: bytes = b""  # empty if it is unknown


def content_of(path: Path, sizes: Collection[int] | None = None) -> Content | None:
    """Return the content of a file, link or folder, or None if there is none.

    Files of other sizes than these are not read.
    """
    with suppress(OSError):
        state = os.lstat(path)
        kind, size, digest = state.st_mode, state.st_size, b""
        if stat.S_ISDIR(kind):
            return Content(kind, 0)
        if stat.S_ISLNK(kind):
            digest = os.fsencode(path.readlink())
        elif size and (sizes is None or size in sizes) and (file := open_regular(path)):
            with file:
                # file_digest allocates 256 KB for each
                found = hashlib.sha256(file.read(SMALL)) if size < SMALL else hashlib.file_digest(file, "sha256")
                digest = found.digest()
        return Content(kind, size, digest)
    return None


def read_output(path: Path, limit_bytes: int) -> tuple[str, bool]:
    """Return a file's text, and True if something is missing from it: of a longer file, only both ends are read.

    Bytes that are not UTF-8 are replaced. A file that the command has removed or replaced gives ("", True).
    """
    file = open_regular(path)
    if file is None:
        return "", True
    with file:
        size = os.fstat(file.fileno()).st_size
        if size <= limit_bytes:
            return file.read(size).decode(errors="replace"), False
        half = limit_bytes // 2
        start = file.read(half).decode(errors="replace")
        file.seek(size - half)
        end = file.read(half).decode(errors="replace")
        return f"{start}\n[… {size - 2 * half} bytes left out …]\n{end}", True


def copy_plain(source: Path, target: Path, limit_bytes: int) -> int:
    """Copy the regular files below `source` up to the limit; return how many entries were skipped.

    The copies belong to Tidegate and have default permissions.
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
    """Return the bytes copied; None if it is not a regular file, is too large, or has a path that is too long."""
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


def remove_trees(*folders: Path) -> None:
    """Delete folders, even if they are deeply nested or unreadable. What cannot be deleted is left."""
    for command in (["rm", "-rf"], ["chmod", "-R", "u+rwX"], ["rm", "-rf"]):
        if left := [str(folder) for folder in folders if os.path.lexists(folder)]:
            subprocess.run([*command, "--", *left], capture_output=True, check=False)


def write_file(path: Path, data: bytes) -> None:
    """Write a file of Tidegate's own, as `Path.write_bytes` does in more time."""
    file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o666)
    try:
        while data:
            data = data[os.write(file, data) :]
    finally:
        os.close(file)


def write_below(root: Path, name: str, text: str, owner: tuple[int, int] | None = None) -> Path:
    """Write the file `name` below `root`, replacing what is there. `owner` is (user, group).

    Surrogates in the text stand for bytes that are not UTF-8 (`surrogateescape`).
    """
    with _new_file(root, name, 0o600, owner) as file:
        file.write(text.encode("utf-8", "surrogateescape"))
    return root / name


def copy_below(root: Path, name: str, source: Path, owner: tuple[int, int] | None = None) -> None:
    """Copy `source` to the file `name` below `root` with its mode, replacing what is there."""
    with source.open("rb") as original, _new_file(root, name, source.stat().st_mode & 0o777, owner) as file:
        shutil.copyfileobj(original, file)


@contextmanager
def _new_file(root: Path, name: str, mode: int, owner: tuple[int, int] | None) -> Iterator[BinaryIO]:
    *folders, last = PurePosixPath(name).parts
    with folder_below(root, folders, owner, make=True) as folder:
        _remove(last, folder)
        descriptor = os.open(last, _NEW_FILE, mode, dir_fd=folder)
        with os.fdopen(descriptor, "wb") as file:
            yield file
            if owner is not None:
                os.fchown(file.fileno(), *owner)


@contextmanager
def folder_below(
    root: Path, names: Sequence[str], owner: tuple[int, int] | None = None, *, make: bool = False
) -> Iterator[int]:
    """Yield a descriptor of the folder `names` below `root`. What is missing is made if `make`, else an OSError."""
    folder = os.open(root, _FOLDER)
    try:
        for name in names:
            inner = _inner_folder(folder, name, owner) if make else os.open(name, _FOLDER, dir_fd=folder)
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
    """Remove a file, folder or link; the target of a link is kept."""
    try:
        os.unlink(name, dir_fd=folder)
    except FileNotFoundError:
        return
    except IsADirectoryError:
        shutil.rmtree(name, dir_fd=folder)


M = TypeVar("M", bound=Value)


def redacted(value: M, redaction: Redaction) -> M:
    """Return the value without the secrets."""
    if not redaction:
        return value
    whole = value.model_dump_json()
    if redaction.text(whole) == whole:
        return value
    return type(value).model_validate_json(json.dumps(_cleaned(json.loads(whole), redaction)))


def _cleaned(data: Any, redaction: Redaction) -> Any:
    """Return JSON data without the secrets in its texts."""
    if isinstance(data, str):
        return redaction.text(data)
    if isinstance(data, list):
        return [_cleaned(one, redaction) for one in data]
    if isinstance(data, dict):
        return {redaction.text(name): _cleaned(one, redaction) for name, one in data.items()}
    return data


def redact_file(path: Path, redaction: Redaction) -> None:
    """Replace the secrets in a file."""
    file = open_regular(path) if redaction else None
    if file is None:
        return
    with file:
        whole = file.read()
    clean = redaction.data(whole)
    if clean != whole:
        path.write_bytes(clean)


def redact_folder(folder: Path, redaction: Redaction) -> None:
    """Replace the secrets in all files below a folder. Links are not followed."""
    for place, _, names in os.walk(folder) if redaction else ():
        for name in names:
            redact_file(Path(place, name), redaction)
