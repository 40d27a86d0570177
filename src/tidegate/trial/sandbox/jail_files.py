"""Confines a process to the files that it needs: by Landlock, and by mounts of its own where the system allows them.

launcher.c does what is worked out here. Like the supervisor, which loads this file, it uses the standard library only.

Sources: landlock(7), mount_namespaces(7).
"""

# Loaded by the supervisor, which stays small: no pathlib.
# ruff: noqa: PTH114

from __future__ import annotations

import ctypes
import os
import struct
from collections.abc import Container, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

LIBC = ctypes.CDLL(None, use_errno=True)
CREATE_RULESET = 444
LEAST_ABI = 2  # the first that can allow moving a file to another folder
READ = 1 << 0 | 1 << 2 | 1 << 3  # execute, read files, list folders
LIST, WRITE_FILE, TRUNCATE = 1 << 3, 1 << 1, 1 << 14
DEVICES = 1 << 6 | 1 << 11  # creating device files, which is never allowed
OF_A_FILE = 1 << 0 | 1 << 1 | 1 << 2 | TRUNCATE  # the rights that a rule for a file can have
SCOPES = 3  # no abstract sockets of others, no signals to others; from ABI 6 on
DEVICE_FILES = ("null", "zero", "full", "random", "urandom", "tty", "ptmx", "pts")
MOST_SHARED_MEMORY = "1g"  # of /dev/shm


def landlock_abi() -> int:
    """Return the version of Landlock in this kernel, 0 if there is none."""
    return max(0, int(LIBC.syscall(CREATE_RULESET, None, ctypes.c_size_t(0), 1)))


class Mounts(NamedTuple):
    """The mounts of a command: `own` in the folders `shared`, and nothing in those that are `hidden`."""

    own: str
    shared: Sequence[str]
    hidden: Sequence[tuple[str, str]]  # with the options of the empty file system
    kept: Sequence[tuple[str, bool]]  # the paths in there that stay, and if they can be changed
    covered: Sequence[str]  # sockets that cannot be connected to


class Rules(NamedTuple):
    """What Landlock allows, below paths that may be missing."""

    attribute: bytes  # of landlock_create_ruleset(2): what is refused otherwise
    outputs: int  # rights to the command's outputs
    paths: Sequence[tuple[int, str]]  # rights, and where


def mounts_for(files: Mapping[str, Any], common: Sequence[str]) -> Mounts:
    """Return the mounts for `files`: `tmp` is what the command sees as /tmp and /var/tmp, `hidden` what it sees empty.

    Of these folders it keeps the paths that it may `read`, `write` and `feed`, and those that every command may read.
    """
    tmp, hidden = files["mounts"]["tmp"], files["mounts"]["hidden"]
    shared = ["/tmp", *(() if os.path.islink("/var/tmp") else ("/var/tmp",))] if tmp else []
    replaced = [*hidden, *(("/tmp", "/var/tmp") if tmp else ())]
    kept = _to_bind([*common, *files["read"], *files["write"], *files["feed"]], replaced, files["write"])
    empty = [(folder, _options(folder)) for folder in hidden]
    return Mounts(tmp or "", shared, empty, kept, files["mounts"]["covered"])


def _options(folder: str) -> str:
    return f"mode=1777,size={MOST_SHARED_MEMORY}" if folder == "/dev/shm" else "mode=755,size=1m"


def rules_for(files: Mapping[str, Any], common: Sequence[str]) -> Rules:
    """Return the rules for `files`: `read`, `write`, `feed` (FIFOs to write to), `list` (folders whose names to read).

    `shared_memory` says if all of /dev/shm is among them. Every command may read the common files.
    """
    abi = landlock_abi()
    handled = (1 << (13 if abi < 2 else 14 if abi == 2 else 15)) - 1
    attribute = struct.pack("=QQQ", handled, 0, SCOPES)[: 24 if abi >= 6 else 16 if abi >= 4 else 8]
    everything = handled & ~DEVICES
    devices = [f"/dev/{name}" for name in DEVICE_FILES]
    whole = [*files["write"], *(["/dev/shm"] if files["shared_memory"] else [])]
    if files["mounts"] and files["mounts"]["tmp"]:
        whole += ["/tmp", "/var/tmp"]
    given = [(READ, [*common, *files["read"]]), (LIST, files["list"]), (everything, whole), (WRITE_FILE, files["feed"])]
    given.append((READ | WRITE_FILE | TRUNCATE, devices))
    paths = [(rights & handled, path) for rights, listed in given for path in listed]
    return Rules(attribute, OF_A_FILE & ~1 & handled, paths)


def _to_bind(paths: Iterable[str], replaced: Iterable[str], writable: Sequence[str]) -> list[tuple[str, bool]]:
    """Return the paths in the replaced folders, and if they are writable; of those in another one the writable."""
    inside = tuple([folder.rstrip("/") + "/" for folder in replaced])
    found: dict[str, bool] = {}
    can_be_changed = {path.rstrip("/") for path in writable}
    for path in sorted({path.rstrip("/") for path in paths if path.startswith(inside)}):
        is_writable = path in can_be_changed or _around(path, can_be_changed) is not None
        around = _around(path, found)
        if around is None or (is_writable and not found[around]):
            found[path] = is_writable
    return list(found.items())


def _around(path: str, folders: Container[str]) -> str | None:
    """Return the innermost of the folders that the path is below; None if there is none."""
    while path:
        path = path.rpartition("/")[0]  # '' is the root
        if path in folders:
            return path
    return None
