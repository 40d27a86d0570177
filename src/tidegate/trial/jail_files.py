"""Confines a process to the files that it needs: by Landlock, and by mounts of its own where the system allows them.

The supervisor loads this file, so it imports nothing from Tidegate. `python -I -S jail_files.py` prints what this
machine can do, as JSON.

Sources: landlock(7), mount_namespaces(7), user_namespaces(7), proc(5).
"""

# Loaded by the supervisor, which stays small: no pathlib.
# ruff: noqa: PTH110, PTH112, PTH114, PTH123

from __future__ import annotations

import ctypes
import json
import os
import stat
import struct
from collections.abc import Container, Iterable, Mapping, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:  # it runs as a program of its own, too
    from tidegate.trial.common_files import CommonFiles

LIBC = ctypes.CDLL(None, use_errno=True)
CLONE_NEWNS, CLONE_NEWIPC, CLONE_NEWUSER = 0x00020000, 0x08000000, 0x10000000
MS_NOSUID, MS_NODEV, MS_NOEXEC, MS_BIND, MS_REC, MS_SLAVE = 2, 4, 8, 0x1000, 0x4000, 1 << 19
MOUNT_SETATTR, AT_FDCWD, AT_RECURSIVE = 442, -100, 0x8000
READ_ONLY = struct.pack("=QQQQ", 1, 0, 0, 0)  # struct mount_attr: what to set
PR_SET_NO_NEW_PRIVS = 38

CREATE_RULESET, ADD_RULE, RESTRICT_SELF = 444, 445, 446
LEAST_ABI = 2  # the first that can allow moving a file to another folder
RULE_BENEATH = 1
READ = 1 << 0 | 1 << 2 | 1 << 3  # execute, read files, list folders
LIST, WRITE_FILE, TRUNCATE = 1 << 3, 1 << 1, 1 << 14
DEVICES = 1 << 6 | 1 << 11  # creating device files, which is never allowed
OF_A_FILE = 1 << 0 | 1 << 1 | 1 << 2 | TRUNCATE  # the rights that a rule for a file can have
SCOPES = 3  # no abstract sockets of others, no signals to others; from ABI 6 on
DEVICE_FILES = ("null", "zero", "full", "random", "urandom", "tty", "ptmx", "pts")
MOST_SHARED_MEMORY = "1g"  # of /dev/shm


def main() -> None:
    """Print the Landlock ABI of this kernel, and why mounts are not allowed ('' if they are)."""
    why = ""
    try:
        become_private(Mounts("", (), [("/dev/shm", _options("/dev/shm"))], ()))
    except OSError as error:
        why = error.strerror or str(error)
    print(json.dumps({"abi": landlock_abi(), "no_mounts": why}))


def landlock_abi() -> int:
    """Return the version of Landlock in this kernel, 0 if there is none."""
    return max(0, int(LIBC.syscall(CREATE_RULESET, None, ctypes.c_size_t(0), 1)))


class Mounts(NamedTuple):
    """The mounts of a command: `own` in the folders `shared`, and nothing in those that are `hidden`."""

    own: str
    shared: Sequence[str]
    hidden: Sequence[tuple[str, str]]  # with the options of the empty file system
    kept: Sequence[tuple[str, bool]]  # the paths in there that stay, and if they can be changed


class Rules(NamedTuple):
    """What Landlock allows, below paths that may be missing."""

    attribute: bytes  # of landlock_create_ruleset(2): what is refused otherwise
    outputs: int  # rights to the command's outputs
    paths: Sequence[tuple[int, str]]  # rights, and where
    held: Sequence[tuple[int, int]]  # rights, and inherited descriptors, which are closed


def replaced_by(files: Mapping[str, Any]) -> list[str]:
    """Return the folders in whose place the mounts for `files` put others."""
    mounts = files["mounts"] or {"hidden": (), "tmp": None}
    return [*mounts["hidden"], *(("/tmp", "/var/tmp") if mounts["tmp"] else ())]


def mounts_for(files: Mapping[str, Any], common: Sequence[str]) -> Mounts:
    """Return the mounts for `files`: `tmp` is what the command sees as /tmp and /var/tmp, `hidden` what it sees empty.

    Of these folders it keeps the paths that it may `read`, `write` and `feed`, and those that every command may read.
    """
    tmp, hidden = files["mounts"]["tmp"], files["mounts"]["hidden"]
    shared = ["/tmp", *(() if os.path.islink("/var/tmp") else ("/var/tmp",))] if tmp else []
    kept = _to_bind([*common, *files["read"], *files["write"], *files["feed"]], replaced_by(files), files["write"])
    return Mounts(tmp or "", shared, [(folder, _options(folder)) for folder in hidden], kept)


def _options(folder: str) -> str:
    return f"mode=1777,size={MOST_SHARED_MEMORY}" if folder == "/dev/shm" else "mode=755,size=1m"


def rules_for(files: Mapping[str, Any], common: CommonFiles) -> Rules:
    """Return the rules for `files`: `read`, `write`, `feed` (FIFOs to write to), `list` (folders whose names to read).

    `shared_memory` says if all of /dev/shm is among them. Every command may read the common files.
    """
    held, read = common.opened()
    abi = landlock_abi()
    handled = (1 << (13 if abi < 2 else 14 if abi == 2 else 15)) - 1
    attribute = struct.pack("=QQQ", handled, 0, SCOPES)[: 24 if abi >= 6 else 16 if abi >= 4 else 8]
    everything = handled & ~DEVICES
    devices = [f"/dev/{name}" for name in DEVICE_FILES]
    whole = [*files["write"], *(["/dev/shm"] if files["shared_memory"] else [])]
    if files["mounts"] and files["mounts"]["tmp"]:
        whole += ["/tmp", "/var/tmp"]
    given = [(READ, [*read, *files["read"]]), (LIST, files["list"]), (everything, whole), (WRITE_FILE, files["feed"])]
    given.append((READ | WRITE_FILE | TRUNCATE, devices))
    paths = [(rights & handled, path) for rights, listed in given for path in listed]
    descriptors = [*((READ & OF_A_FILE, file) for file in held.files), *((READ, folder) for folder in held.folders)]
    return Rules(attribute, OF_A_FILE & ~1 & handled, paths, descriptors)


def restrict(rules: Rules, outputs: Iterable[int]) -> None:
    """Let this process and its children use the files of these rules and their outputs. Raises OSError on failure."""
    ruleset = _checked(LIBC.syscall(CREATE_RULESET, rules.attribute, ctypes.c_size_t(len(rules.attribute)), 0))
    for rights, path in rules.paths:
        with suppress(OSError):  # what does not exist needs no rule
            beneath = os.open(path, os.O_PATH | os.O_CLOEXEC)
            _add(ruleset, beneath, rights)
            os.close(beneath)
    for rights, descriptor in rules.held:
        _add(ruleset, descriptor, rights)
        os.close(descriptor)
    for output in outputs:
        _add(ruleset, output, rules.outputs)
    _checked(LIBC.prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0))
    _checked(LIBC.syscall(RESTRICT_SELF, ruleset, 0))
    os.close(ruleset)


def _add(ruleset: int, beneath: int, rights: int) -> None:
    if not stat.S_ISDIR(os.fstat(beneath).st_mode):
        rights &= OF_A_FILE
    if rights:
        _checked(LIBC.syscall(ADD_RULE, ruleset, RULE_BENEATH, struct.pack("=Qi", rights, beneath), 0))


def become_private(mounts: Mounts) -> None:
    """Give this process mounts of its own. Without the right to do so, a user namespace that has it comes first."""
    _leave()
    _mount("none", "/", None, MS_REC | MS_SLAVE)
    kept = [(path, os.open(path, os.O_PATH | os.O_CLOEXEC), own) for path, own in mounts.kept if os.path.exists(path)]
    if mounts.shared:
        own = os.open(mounts.own, os.O_PATH | os.O_CLOEXEC)
        for folder in mounts.shared:
            _mount(f"/proc/self/fd/{own}", folder, None, MS_BIND | MS_REC)
        os.close(own)
    for folder, options in mounts.hidden:
        if os.path.isdir(folder):
            _mount("tmpfs", folder, "tmpfs", MS_NOSUID | MS_NODEV, options)
    for path, descriptor, is_writable in kept:
        place = _place(path, is_folder=stat.S_ISDIR(os.fstat(descriptor).st_mode))
        _mount(f"/proc/self/fd/{descriptor}", f"/proc/self/fd/{place}", None, MS_BIND | MS_REC)
        os.close(place)
        if not is_writable:
            # A rule for /tmp holds below the mounts in it as well: these are read-only by themselves.
            words = ctypes.c_char_p(os.fsencode(path)), ctypes.c_uint(AT_RECURSIVE)
            _checked(LIBC.syscall(MOUNT_SETATTR, AT_FDCWD, *words, READ_ONLY, ctypes.c_size_t(len(READ_ONLY))))
        os.close(descriptor)
    if os.geteuid() == 0:
        with suppress(OSError):  # a container may allow mounts, and not this one
            _mount("proc", "/proc", "proc", MS_NOSUID | MS_NODEV | MS_NOEXEC, "hidepid=2")


def _leave() -> None:
    """Move to new namespaces of mounts and of System V's shared memory, within a new user namespace if need be."""
    uid, gid, wanted = os.geteuid(), os.getegid(), CLONE_NEWNS | CLONE_NEWIPC
    if LIBC.unshare(wanted) == 0:
        return
    # In a user namespace of its own, root could not become the trial's user.
    if uid == 0 or LIBC.unshare(CLONE_NEWUSER | wanted) != 0:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
    for name, line in (("setgroups", "deny"), ("uid_map", f"{uid} {uid} 1"), ("gid_map", f"{gid} {gid} 1")):
        with open(f"/proc/self/{name}", "w") as file:
            file.write(line)


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


def _place(path: str, *, is_folder: bool) -> int:
    """Return a descriptor of the path, created where it is missing, without following a link that a trial has made."""
    place = os.open("/", os.O_PATH | os.O_CLOEXEC)
    names = path.strip("/").split("/")
    for number, name in enumerate(names, 1):
        last = number == len(names) and not is_folder
        with suppress(FileExistsError):
            if last:
                os.close(os.open(name, os.O_CREAT | os.O_EXCL | os.O_WRONLY | os.O_CLOEXEC, 0o644, dir_fd=place))
            else:
                os.mkdir(name, 0o755, dir_fd=place)
        kind = 0 if last else os.O_DIRECTORY
        inner = os.open(name, os.O_PATH | os.O_NOFOLLOW | os.O_CLOEXEC | kind, dir_fd=place)
        os.close(place)
        place = inner
    return place


def _mount(source: str, target: str, kind: str | None, flags: int, options: str | None = None) -> None:
    words = [None if word is None else os.fsencode(word) for word in (source, target, kind, options)]
    if LIBC.mount(words[0], words[1], words[2], ctypes.c_ulong(flags), words[3]) != 0:
        raise OSError(ctypes.get_errno(), f"cannot mount {target}: {os.strerror(ctypes.get_errno())}")


def _checked(result: int) -> int:
    if result < 0:
        raise OSError(ctypes.get_errno(), "the files of the machine could not be taken away from the trial")
    return result


if __name__ == "__main__":
    main()
