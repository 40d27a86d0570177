"""What git's index tells of files. Its format: gitformat-index(5)."""

from __future__ import annotations

import hashlib
import os
import struct
from collections.abc import Iterator, Mapping
from types import MappingProxyType

_STATE, _MODE = ">10I", 6  # an entry begins with the file's state; the place of its mode therein
_HASH = 20  # bytes of a SHA-1
_BLOB, _FLAGS, _NAME = 40, 60, 62  # where these begin
_ASSUMED = 0x80  # git does not look at the file: `git update-index --assume-unchanged`
_EXTENDED, _STAGE = 0x4000, 0x3000
_NO_HASH = bytes(_HASH)  # `index.skipHash`


def blobs(index: bytes) -> dict[str, bytes]:
    """Return the hash of each file that the index has, by its name; {} if it cannot be read."""
    return {name: index[at + _BLOB : at + _FLAGS] for name, at in _entries(index).items()}


def with_states(
    index: bytes, states: Mapping[str, os.stat_result | None], assumed: Mapping[str, bool] = MappingProxyType({})
) -> bytes:
    """Return the index with these states of files, and with what git is told to assume that nothing has changed.

    git takes a file in this state for unchanged. It compares the content of one whose state is None.
    """
    entries, new = _entries(index), bytearray(index)
    for name, state in states.items():
        if (at := entries.get(name)) is not None:
            struct.pack_into(_STATE, new, at, *_numbers(state, struct.unpack_from(_STATE, new, at)[_MODE]))
    for name, is_assumed in assumed.items():
        if (at := entries.get(name)) is not None:
            new[at + _FLAGS] = new[at + _FLAGS] | _ASSUMED if is_assumed else new[at + _FLAGS] & ~_ASSUMED
    return _hashed(new)


def _numbers(state: os.stat_result | None, mode: int) -> Iterator[int]:
    if state is None:
        told = (0, 0, 0, 0, 0, 0, mode, 0, 0, 0)
    else:
        times = (*divmod(state.st_ctime_ns, 10**9), *divmod(state.st_mtime_ns, 10**9))
        told = (*times, state.st_dev, state.st_ino, mode, state.st_uid, state.st_gid, state.st_size)
    return (number & 0xFFFFFFFF for number in told)


def _hashed(index: bytearray) -> bytes:
    if len(index) > _HASH and index[-_HASH:] != _NO_HASH:
        index[-_HASH:] = hashlib.sha1(index[:-_HASH], usedforsecurity=False).digest()
    return bytes(index)


def _entries(index: bytes) -> dict[str, int]:
    """Return where the entry of each file begins, without files in conflict; {} if the index cannot be read."""
    try:
        return dict(_read(index))
    except (struct.error, ValueError, IndexError):
        return {}


def _read(index: bytes) -> Iterator[tuple[str, int]]:
    magic, version, count = struct.unpack_from(">4sII", index)
    if magic != b"DIRC" or version not in (2, 3, 4):
        return
    at, name = 12, b""
    for _ in range(count):
        (flags,) = struct.unpack_from(">H", index, at + _FLAGS)
        start = at + _NAME + (2 if flags & _EXTENDED else 0)
        left, start = _shared(index, start, len(name)) if version == 4 else (0, start)
        end = index.index(b"\0", start)
        name = name[:left] + index[start:end]
        if not flags & _STAGE:
            yield os.fsdecode(name), at
        at = end + 1 if version == 4 else at + (end - at + 8) // 8 * 8


def _shared(index: bytes, at: int, length: int) -> tuple[int, int]:
    """Return how many bytes of the name before it an entry's name begins with, and where the rest of it begins."""
    byte = index[at]
    removed = byte & 0x7F
    while byte & 0x80:
        at += 1
        byte = index[at]
        removed = (removed + 1 << 7) | byte & 0x7F
    if removed > length:
        raise ValueError
    return length - removed, at + 1
