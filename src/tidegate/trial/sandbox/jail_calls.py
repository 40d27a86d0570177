"""The filter of system calls that no trial needs: those that change the kernel, mounts, keys or other processes.

The supervisor loads this file, so it imports nothing from Tidegate.

Sources: seccomp(2), capabilities(7), and the kernel's tables of system calls.
"""

from __future__ import annotations

import os
import struct
from functools import cache

ALLOW, REFUSE, UNKNOWN = 0x7FFF0000, 0x00050000 | 1, 0x00050000 | 38  # EPERM, ENOSYS
LOAD, EQUAL, AT_LEAST, ANY_BIT, RETURN = 0x20, 0x15, 0x35, 0x45, 0x06
X32 = 0x40000000  # system calls from here on are those of another table
NAMESPACES = 0x7E020080  # flags of unshare and clone
CLONE3 = 435  # its flags cannot be looked at: the C library then uses clone
# Since 2019, new calls have the same number everywhere: io_uring's, open_tree to fspick, pidfd_getfd, mount_setattr.
NEW = (425, 426, 427, 428, 429, 430, 431, 432, 433, 438, 442)
# In this order: mount umount2 pivot_root setns; keyctl add_key request_key; bpf perf_event_open userfaultfd;
# kexec_load init_module finit_module delete_module; open_by_handle_at; swapon swapoff reboot acct quotactl syslog;
# settimeofday clock_settime clock_adjtime adjtimex sethostname setdomainname.
REFUSED = {
    "x86_64": (
        *(165, 166, 155, 308, 250, 248, 249, 321, 298, 323, 246, 320, 175, 313, 176, 304),
        *(167, 168, 169, 163, 179, 103, 164, 227, 305, 159, 170, 171, 172, 173),
    ),
    "i386": (
        *(21, 22, 52, 217, 346, 288, 286, 287, 357, 336, 374, 283, 128, 350, 129, 342),
        *(87, 115, 88, 51, 131, 103, 79, 264, 343, 124, 74, 121, 110, 101),
    ),
    "aarch64": (
        *(40, 39, 41, 268, 219, 217, 218, 280, 241, 282, 104, 294, 105, 273, 106),
        *(265, 224, 225, 142, 89, 60, 116, 170, 112, 266, 171, 161, 162),
    ),
}
ARCHITECTURE = {"x86_64": 0xC000003E, "i386": 0x40000003, "aarch64": 0xC00000B7}
UNSHARE_AND_CLONE = {"x86_64": (272, 56), "i386": (310, 120), "aarch64": (97, 220)}
TRACING = {"x86_64": (101, 310, 311), "i386": (26, 347, 348), "aarch64": (117, 270, 271)}  # of others: Landlock's
TABLES = {"x86_64": ("x86_64", "i386"), "aarch64": ("aarch64",)}
# What root in a trial keeps: CHOWN, DAC_OVERRIDE, DAC_READ_SEARCH, FOWNER, FSETID, KILL, SETGID, SETUID,
# NET_BIND_SERVICE, SYS_CHROOT.
KEPT_CAPABILITIES = {0, 1, 2, 3, 4, 5, 6, 7, 10, 18}


def can_refuse() -> bool:
    """Return True if there is a filter for this machine."""
    return os.uname().machine in TABLES


@cache
def filter_steps(*, tracing: bool) -> bytes:
    """Return the program of the filter. The supervisor calls this before it forks, so that it is made once."""
    program = [_step(LOAD, 4)]
    for name in TABLES[os.uname().machine]:
        body = _table(name, tracing=tracing)
        program += [_step(EQUAL, ARCHITECTURE[name], 0, len(body)), *body]
    return b"".join([*program, _step(RETURN, REFUSE)])


def _table(name: str, *, tracing: bool) -> list[bytes]:
    """Return the steps for one architecture; they end with a decision."""
    numbers = [*REFUSED[name], *NEW, *(TRACING[name] if tracing else ())]
    flags = [part for call in UNSHARE_AND_CLONE[name] for part in _namespaces(call)]
    checks = [_step(EQUAL, number, len(numbers) - at, 0) for at, number in enumerate(numbers)]
    above = [_step(AT_LEAST, X32, 0, 1), _step(RETURN, REFUSE)] if name == "x86_64" else []
    clone3 = [_step(EQUAL, CLONE3, 0, 1), _step(RETURN, UNKNOWN)]
    end = [_step(RETURN, ALLOW), _step(RETURN, REFUSE)]
    return [_step(LOAD, 0), *above, *clone3, *flags, *checks, *end]


def _namespaces(call: int) -> list[bytes]:
    """Return steps that decide on this call by its first argument: no new namespaces."""
    decided = [_step(LOAD, 16), _step(ANY_BIT, NAMESPACES, 1, 0), _step(RETURN, ALLOW), _step(RETURN, REFUSE)]
    return [_step(EQUAL, call, 0, len(decided)), *decided]


def _step(code: int, value: int, if_true: int = 0, if_false: int = 0) -> bytes:
    """Return one instruction of a seccomp program: `struct sock_filter`."""
    return struct.pack("=HBBI", code, if_true, if_false, value)
