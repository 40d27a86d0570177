"""Makes a git repository of one commit in memory: starting git, and files for single objects, would cost more."""

from __future__ import annotations

import hashlib
import os
import struct
import zlib
from collections.abc import Mapping
from typing import NamedTuple

BRANCH = "refs/heads/main"
_COMMIT, _TREE, _BLOB = 1, 2, 3  # as in a pack
_NAMES = {_COMMIT: b"commit", _TREE: b"tree", _BLOB: b"blob"}
_CONFIG = b"[core]\n\trepositoryformatversion = 0\n\tfilemode = true\n\tbare = false\n\tlogallrefupdates = true\n"
_BY_GIT_ITSELF = (".git", "git~")  # names that have a meaning for git begin so
_HARMLESS = (".gitignore", ".gitkeep", ".github")


class File(NamedTuple):
    """A file or a link of the commit. `mode` is git's: 0o100644, 0o100755, or 0o120000 for a link."""

    mode: int
    data: bytes


class Commit(NamedTuple):
    """The author, who is the committer as well, as `NAME <EMAIL> SECONDS ZONE`, and the message."""

    author: str
    message: str


class _Object(NamedTuple):
    kind: int
    data: bytes

    @property
    def id(self) -> bytes:
        return _sha1(b"%b %d\0%b" % (_NAMES[self.kind], len(self.data), self.data))


_Tree = dict[bytes, "tuple[int, bytes] | _Tree"]  # by name: mode and id of a blob, or a folder


def needs_git(paths: Mapping[str, object]) -> bool:
    """Return True if a file's name has a meaning for git, so that only git makes the right repository of it."""
    parts = {part.lower() for path in paths for part in path.split("/")}
    return any(part.startswith(_BY_GIT_ITSELF) and part not in _HARMLESS for part in parts)


def repository(files: Mapping[str, File], commit: Commit) -> dict[str, bytes | None]:
    """Return the contents of the folder `.git` after a commit of the files, by path; None stands for a folder."""
    objects: dict[bytes, _Object] = {}
    staged: list[tuple[bytes, int, bytes]] = []
    top: _Tree = {}
    for path, file in files.items():
        name = os.fsencode(path)
        blob = _add(objects, _Object(_BLOB, file.data))
        staged.append((name, file.mode, blob))
        *folders, last = name.split(b"/")
        inner = top
        for folder in folders:
            below = inner.setdefault(folder, {})
            assert isinstance(below, dict), "a path is a file and a folder"
            inner = below
        inner[last] = (file.mode, blob)
    text = f"tree {_tree(objects, top).hex()}\nauthor {commit.author}\ncommitter {commit.author}\n\n{commit.message}\n"
    head = _add(objects, _Object(_COMMIT, text.encode()))
    pack, pack_index = _pack(objects)
    place = f"objects/pack/pack-{pack[-20:].hex()}"
    return {
        "HEAD": f"ref: {BRANCH}\n".encode(),
        "config": _CONFIG,
        "index": _index(staged),
        "packed-refs": f"# pack-refs with: peeled fully-peeled sorted \n{head.hex()} {BRANCH}\n".encode(),
        "refs": None,
        "objects": None,
        "objects/pack": None,
        f"{place}.pack": pack,
        f"{place}.idx": pack_index,
    }


def _sha1(data: bytes | bytearray) -> bytes:
    return hashlib.sha1(data, usedforsecurity=False).digest()


def _add(objects: dict[bytes, _Object], one: _Object) -> bytes:
    objects[one.id] = one
    return one.id


def _tree(objects: dict[bytes, _Object], tree: _Tree) -> bytes:
    """Add the folder's object, and those of the folders in it; return its id."""
    lines: dict[bytes, bytes] = {}  # git compares folders as if their names ended with a slash
    for name, entry in tree.items():
        if isinstance(entry, dict):
            lines[name + b"/"] = b"40000 %b\0%b" % (name, _tree(objects, entry))
        else:
            lines[name] = b"%o %b\0%b" % (entry[0], name, entry[1])
    return _add(objects, _Object(_TREE, b"".join(line for _, line in sorted(lines.items()))))


def _pack(objects: Mapping[bytes, _Object]) -> tuple[bytes, bytes]:
    """Return the pack of these objects, and its index (gitformat-pack(5), version 2)."""
    ids = sorted(objects)
    pack = bytearray(b"PACK" + struct.pack(">II", 2, len(ids)))
    offsets, sums = [], []
    for one in map(objects.__getitem__, ids):
        entry = _header(one.kind, len(one.data)) + zlib.compress(one.data, 1)
        offsets.append(len(pack))
        sums.append(zlib.crc32(entry))
        pack += entry
    pack += _sha1(pack)
    up_to = [sum(one[0] <= first for one in ids) for first in range(256)]
    index = b"\377tOc" + struct.pack(">I256I", 2, *up_to) + b"".join(ids)
    index += struct.pack(f">{len(ids)}I", *sums) + struct.pack(f">{len(ids)}I", *offsets) + pack[-20:]
    return bytes(pack), index + _sha1(index)


def _header(kind: int, size: int) -> bytes:
    """Return an object's kind and size: four bits of the size in the first byte, seven in each of the others."""
    parts = [kind << 4 | size & 15]
    size >>= 4
    while size:
        parts[-1] |= 128
        parts.append(size & 127)
        size >>= 7
    return bytes(parts)


def _index(staged: list[tuple[bytes, int, bytes]]) -> bytes:
    """Return the staging index (gitformat-index(5), version 2). It knows no file times, so git compares contents."""
    parts = [b"DIRC" + struct.pack(">II", 2, len(staged))]
    for name, mode, blob in sorted(staged):
        entry = struct.pack(">6I4I20sH", 0, 0, 0, 0, 0, 0, mode, 0, 0, 0, blob, min(len(name), 0xFFF)) + name
        parts.append(entry + b"\0" * (8 - len(entry) % 8))
    whole = b"".join(parts)
    return whole + _sha1(whole)
