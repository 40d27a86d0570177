"""What a command is kept from: files by Landlock and by mounts of its own, and system calls by filters.

launcher.c does what is worked out here. The filter of system calls refuses those that no trial needs: what changes the
kernel, mounts, keys or other processes, since a tool must not change what checks it. Another one limits the network
where it has no namespace. The supervisor loads this file, so it uses the standard library only.

Sources: landlock(7), mount_namespaces(7), seccomp(2), capabilities(7), and the kernel's tables of system calls.
"""

# ruff: noqa: PTH114

from __future__ import annotations

import ctypes
import os
import struct
from collections.abc import Container, Iterable, Mapping, Sequence
from functools import cache
from typing import Any, NamedTuple

ALLOW, ASK = 0x7FFF0000, 0x7FC00000  # ASK: the supervisor answers
REFUSE, UNKNOWN = 0x00050000 | 1, 0x00050000 | 38  # EPERM, ENOSYS
LOAD, EQUAL, AT_LEAST, ANY_BIT, AND, RETURN = 0x20, 0x15, 0x35, 0x45, 0x54, 0x06
ARGUMENTS = 16  # where they begin in seccomp_data, with 8 bytes each
X32 = 0x40000000  # system calls from here on are those of another table
NAMESPACES = 0x7E020080  # flags of unshare and clone
FASTOPEN = 0x20000000  # MSG_FASTOPEN connects without asking Landlock
CLONE3 = 435  # its flags cannot be looked at: the C library then uses clone
IO_URING_SETUP = 425
FEW = 4  # numbers that are compared one by one
UNIX, INET, INET6, NETLINK, VSOCK = 1, 2, 10, 16, 40  # families of sockets
STREAM, TCP = 1, 6
# Since 2019, new calls have the same number everywhere: io_uring's, open_tree to fspick, pidfd_getfd, mount_setattr.
NEW = (425, 426, 427, 428, 429, 430, 431, 432, 433, 438, 442)


class Table(NamedTuple):
    """An architecture, and its numbers of calls."""

    architecture: int
    # mount umount2 pivot_root setns; keyctl add_key request_key; bpf perf_event_open userfaultfd;
    # kexec_load init_module finit_module delete_module; open_by_handle_at; swapon swapoff reboot acct quotactl syslog;
    # settimeofday clock_settime clock_adjtime adjtimex sethostname setdomainname;
    # ptrace process_vm_readv process_vm_writev.
    refused: Sequence[int]
    flagged: Sequence[int]  # unshare clone
    of_process: Sequence[int]  # prlimit64 sched_setaffinity sched_setscheduler sched_setparam sched_setattr
    priorities: Sequence[int]  # setpriority ioprio_set
    of_all: Sequence[int]  # shmget semget msgget mq_open: what all users share without a namespace
    socket: int
    sends: Sequence[tuple[int, int]] = ()  # sendto sendmsg sendmmsg, and the place of their flags


TABLES = {
    "x86_64": Table(
        0xC000003E, (165, 166, 155, 308, 250, 248, 249, 321, 298, 323, 246, 320, 175, 313, 176, 304, 167, 168, 169, 163,
                     179, 103, 164, 227, 305, 159, 170, 171, 172, 173, 101, 310, 311),
        (272, 56), (302, 203, 144, 142, 314), (141, 251), (29, 64, 68, 240), 41,
        ((44, 3), (46, 2), (307, 3))),
    "i386": Table(  # 117 is ipc(2), by which old programs make objects of System V
        0x40000003, (21, 22, 52, 217, 346, 288, 286, 287, 357, 336, 374, 283, 128, 350, 129, 342, 87, 115, 88, 51, 131,
                     103, 79, 264, 343, 124, 74, 121, 110, 101, 26, 347, 348),
        (310, 120), (340, 241, 156, 154, 351), (97, 289), (395, 393, 399, 117, 277), 359),
    "aarch64": Table(
        0xC00000B7, (40, 39, 41, 268, 219, 217, 218, 280, 241, 282, 104, 294, 105, 273, 106, 265, 224, 225, 142, 89, 60,
                     116, 170, 112, 266, 171, 161, 162, 117, 270, 271),
        (97, 220), (261, 122, 119, 118, 274), (140, 30), (194, 190, 186, 180), 198,
        ((206, 3), (211, 2), (269, 3))),
}  # fmt: skip
OF_MACHINE = {"x86_64": ("x86_64", "i386"), "aarch64": ("aarch64",)}
# What root in a trial keeps: CHOWN, DAC_OVERRIDE, DAC_READ_SEARCH, FOWNER, FSETID, KILL, SETGID, SETUID,
# NET_BIND_SERVICE, SYS_CHROOT.
KEPT_CAPABILITIES = {0, 1, 2, 3, 4, 5, 6, 7, 10, 18}


def can_refuse() -> bool:
    """Return True if there is a filter for this machine."""
    return os.uname().machine in OF_MACHINE


@cache
def filter_steps(*, shared_memory: bool = False) -> bytes:
    """Return the program of the filter.

    With `shared_memory`, which belongs to the whole machine, it also refuses the objects of System V and POSIX queues.
    """
    program = [_step(LOAD, 4)]
    for name in OF_MACHINE[os.uname().machine]:
        table = TABLES[name]
        body = _table(table, (*table.refused, *NEW, *(table.of_all if shared_memory else ())))
        program += [_step(EQUAL, table.architecture, 0, len(body)), *body]
    return b"".join([*program, _step(RETURN, REFUSE)])


def _table(table: Table, numbers: Sequence[int]) -> list[bytes]:
    """Return the steps for one architecture; they end with a decision."""
    blocks = [_block(call, [_step(LOAD, ARGUMENTS), _step(ANY_BIT, NAMESPACES, 1, 0)]) for call in table.flagged]
    blocks.append(_block(table.socket, [_step(LOAD, ARGUMENTS), _step(EQUAL, VSOCK, 1, 0)]))
    # 0 is the caller itself; of the others, those of a process, which is the first kind or the second
    blocks += [_block(call, _unless(0)) for call in table.of_process]
    blocks += [_block(call, _unless(kind, 0)) for kind, call in enumerate(table.priorities)]
    above = [_step(AT_LEAST, X32, 0, 1), _step(RETURN, REFUSE)] if table is TABLES["x86_64"] else []
    clone3 = [_step(EQUAL, CLONE3, 0, 1), _step(RETURN, UNKNOWN)]
    decided = [step for block in blocks for step in block]
    return [_step(LOAD, 0), *above, *clone3, *decided, *_refused(sorted(numbers))]


def _refused(numbers: Sequence[int]) -> list[bytes]:
    """Return steps that refuse these calls, in ascending order, and allow all others.

    They halve the numbers: the kernel runs the filter for each call when it is loaded, which took a command 0.2 ms.
    """
    if len(numbers) <= FEW:
        checks = [_step(EQUAL, number, len(numbers) - at, 0) for at, number in enumerate(numbers)]
        return [*checks, _step(RETURN, ALLOW), _step(RETURN, REFUSE)]
    middle = len(numbers) // 2
    below = _refused(numbers[:middle])
    return [_step(AT_LEAST, numbers[middle], len(below), 0), *below, *_refused(numbers[middle:])]


def _unless(*values: int) -> list[bytes]:
    """Return steps that refuse the call unless these are its first arguments."""
    pairs = [(_step(LOAD, ARGUMENTS + 8 * place), value) for place, value in enumerate(values)]
    *before, (load, last) = pairs
    steps = [part for first, value in before for part in (first, _step(EQUAL, value, 1, 0), _step(RETURN, REFUSE))]
    return [*steps, load, _step(EQUAL, last, 0, 1)]


def _block(call: int, asked: list[bytes]) -> list[bytes]:
    """Return steps that decide on this call: `asked` goes on to ALLOW, or skips it and comes to REFUSE."""
    decided = [*asked, _step(RETURN, ALLOW), _step(RETURN, REFUSE)]
    return [_step(EQUAL, call, 0, len(decided)), *decided]


@cache
def network_steps() -> bytes:
    """Return a program that asks the supervisor for TCP sockets, and refuses all but those, Unix and netlink ones.

    Landlock knows neither UDP nor multipath TCP, and does not see what io_uring or a fast open connects.
    """
    table = TABLES[os.uname().machine]
    refuse, allow = _step(RETURN, REFUSE), _step(RETURN, ALLOW)
    head = [_step(LOAD, 4), _step(EQUAL, table.architecture, 1, 0), refuse, _step(LOAD, 0), _step(AT_LEAST, X32, 0, 1)]
    rest = [refuse, _step(EQUAL, IO_URING_SETUP, 0, 1), refuse]
    family, kind, protocol = (ARGUMENTS + 8 * place for place in range(3))
    of_socket = [
        _step(LOAD, family),
        _step(EQUAL, UNIX, 9, 0),
        _step(EQUAL, NETLINK, 8, 0),
        _step(EQUAL, INET, 1, 0),
        _step(EQUAL, INET6, 0, 7),
        _step(LOAD, kind),
        _step(AND, 0xF),
        _step(EQUAL, STREAM, 0, 4),
        _step(LOAD, protocol),
        _step(EQUAL, 0, 3, 0),
        _step(EQUAL, TCP, 2, 1),
        allow,
        refuse,
        _step(RETURN, ASK),
    ]
    sends = [
        part
        for call, place in table.sends
        for part in _block(call, [_step(LOAD, ARGUMENTS + 8 * place), _step(ANY_BIT, FASTOPEN, 1, 0)])
    ]
    return b"".join([*head, *rest, _step(EQUAL, table.socket, 0, len(of_socket)), *of_socket, *sends, allow])


def _step(code: int, value: int, if_true: int = 0, if_false: int = 0) -> bytes:
    """Return one instruction of a seccomp program: `struct sock_filter`."""
    return struct.pack("=HBBI", code, if_true, if_false, value)


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
    paths: Sequence[tuple[int, Sequence[str]]]  # rights, and where


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
    given = [(READ, common), (READ, files["read"]), (LIST, files["list"]), (everything, whole)]
    given += [(WRITE_FILE, files["feed"]), (READ | WRITE_FILE | TRUNCATE, devices)]
    return Rules(attribute, (WRITE_FILE | TRUNCATE) & handled, [(rights & handled, paths) for rights, paths in given])


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
