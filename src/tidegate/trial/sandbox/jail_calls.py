"""The filters of system calls: of those that no trial needs, and of the network where it has no namespace.

The first refuses what changes the kernel, mounts, keys or other processes. The supervisor loads this file, so it
imports nothing from Tidegate.

Sources: seccomp(2), capabilities(7), and the kernel's tables of system calls.
"""

from __future__ import annotations

import os
import struct
from collections.abc import Sequence
from functools import cache
from typing import NamedTuple

ALLOW, ASK = 0x7FFF0000, 0x7FC00000  # ASK: the supervisor answers
REFUSE, UNKNOWN = 0x00050000 | 1, 0x00050000 | 38  # EPERM, ENOSYS
LOAD, EQUAL, AT_LEAST, ANY_BIT, AND, RETURN = 0x20, 0x15, 0x35, 0x45, 0x54, 0x06
ARGUMENTS = 16  # where they begin in seccomp_data, with 8 bytes each
X32 = 0x40000000  # system calls from here on are those of another table
NAMESPACES = 0x7E020080  # flags of unshare and clone
FASTOPEN = 0x20000000  # MSG_FASTOPEN connects without asking Landlock
CLONE3 = 435  # its flags cannot be looked at: the C library then uses clone
IO_URING_SETUP = 425
UNIX, INET, INET6, NETLINK, VSOCK = 1, 2, 10, 16, 40  # families of sockets
STREAM, TCP = 1, 6
# Since 2019, new calls have the same number everywhere: io_uring's, open_tree to fspick, pidfd_getfd, mount_setattr.
NEW = (425, 426, 427, 428, 429, 430, 431, 432, 433, 438, 442)


class Table(NamedTuple):
    """An architecture, and its numbers of calls. The supervisor is of the same user as its commands, or not."""

    architecture: int
    # mount umount2 pivot_root setns; keyctl add_key request_key; bpf perf_event_open userfaultfd;
    # kexec_load init_module finit_module delete_module; open_by_handle_at; swapon swapoff reboot acct quotactl syslog;
    # settimeofday clock_settime clock_adjtime adjtimex sethostname setdomainname.
    refused: Sequence[int]
    flagged: Sequence[int]  # unshare clone
    tracing: Sequence[int]  # ptrace process_vm_readv process_vm_writev: of others, which is Landlock's
    of_process: Sequence[int]  # prlimit64 sched_setaffinity sched_setscheduler sched_setparam sched_setattr
    priorities: Sequence[int]  # setpriority ioprio_set
    of_all: Sequence[int]  # shmget semget msgget mq_open: what all users share without a namespace
    socket: int
    sends: Sequence[tuple[int, int]] = ()  # sendto sendmsg sendmmsg, and the place of their flags


TABLES = {
    "x86_64": Table(
        0xC000003E, (165, 166, 155, 308, 250, 248, 249, 321, 298, 323, 246, 320, 175, 313, 176, 304, 167, 168, 169, 163,
                     179, 103, 164, 227, 305, 159, 170, 171, 172, 173),
        (272, 56), (101, 310, 311), (302, 203, 144, 142, 314), (141, 251), (29, 64, 68, 240), 41,
        ((44, 3), (46, 2), (307, 3))),
    "i386": Table(  # 117 is ipc(2), by which old programs make objects of System V
        0x40000003, (21, 22, 52, 217, 346, 288, 286, 287, 357, 336, 374, 283, 128, 350, 129, 342, 87, 115, 88, 51, 131,
                     103, 79, 264, 343, 124, 74, 121, 110, 101),
        (310, 120), (26, 347, 348), (340, 241, 156, 154, 351), (97, 289), (395, 393, 399, 117, 277), 359),
    "aarch64": Table(
        0xC00000B7, (40, 39, 41, 268, 219, 217, 218, 280, 241, 282, 104, 294, 105, 273, 106, 265, 224, 225, 142, 89, 60,
                     116, 170, 112, 266, 171, 161, 162),
        (97, 220), (117, 270, 271), (261, 122, 119, 118, 274), (140, 30), (194, 190, 186, 180), 198,
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
def filter_steps(*, tracing: bool = False, same_user: bool = False, shared_memory: bool = False) -> bytes:
    """Return the program of the filter, which also refuses what the arguments name.

    `tracing` of others, changes of the limits and priorities of others, who are of the `same_user`, and the objects of
    System V and POSIX queues in `shared_memory` that belongs to the whole machine.
    """
    program = [_step(LOAD, 4)]
    for name in OF_MACHINE[os.uname().machine]:
        table = TABLES[name]
        also = (*(table.tracing if tracing else ()), *(table.of_all if shared_memory else ()))
        body = _table(table, (*table.refused, *NEW, *also), same_user=same_user)
        program += [_step(EQUAL, table.architecture, 0, len(body)), *body]
    return b"".join([*program, _step(RETURN, REFUSE)])


def _table(table: Table, numbers: Sequence[int], *, same_user: bool) -> list[bytes]:
    """Return the steps for one architecture; they end with a decision."""
    blocks = [_block(call, [_step(LOAD, ARGUMENTS), _step(ANY_BIT, NAMESPACES, 1, 0)]) for call in table.flagged]
    blocks.append(_block(table.socket, [_step(LOAD, ARGUMENTS), _step(EQUAL, VSOCK, 1, 0)]))
    if same_user:  # 0 is the caller itself; of the others, those of a process, which is the first kind or the second
        blocks += [_block(call, _unless(0)) for call in table.of_process]
        blocks += [_block(call, _unless(kind, 0)) for kind, call in enumerate(table.priorities)]
    above = [_step(AT_LEAST, X32, 0, 1), _step(RETURN, REFUSE)] if table is TABLES["x86_64"] else []
    clone3 = [_step(EQUAL, CLONE3, 0, 1), _step(RETURN, UNKNOWN)]
    checks = [_step(EQUAL, number, len(numbers) - at, 0) for at, number in enumerate(numbers)]
    end = [_step(RETURN, ALLOW), _step(RETURN, REFUSE)]
    decided = [step for block in blocks for step in block]
    return [_step(LOAD, 0), *above, *clone3, *decided, *checks, *end]


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
