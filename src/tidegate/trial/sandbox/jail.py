"""Takes the network away from a process: by a network namespace, or where there is none by Landlock and seccomp.

Like the supervisor, which loads it, this file runs without the package: `python -I -S jail.py` creates a namespace and
sends its descriptors to Tidegate. It uses the standard library only.

Sources: namespaces(7), network_namespaces(7), landlock(7), seccomp(2), and the kernel's tables of system calls.
"""

# Loaded by the supervisor, which stays small: no pathlib.
# ruff: noqa: PTH123

from __future__ import annotations

import array
import ctypes
import fcntl
import os
import socket
import struct
import sys
from contextlib import suppress
from functools import cache

CONTROL = 0  # file descriptor of the socket that descriptors are sent to
CLONE_NEWUSER, CLONE_NEWNET = 0x10000000, 0x40000000
LIBC = ctypes.CDLL(None, use_errno=True)

# Landlock, with the same number on every architecture.
CREATE_RULESET = 444
LEAST_ABI = 4  # the first with rules for TCP

# Of seccomp: the architecture's number, and its numbers of socket, sendto, sendmsg and sendmmsg.
CALLS = {
    "x86_64": (0xC000003E, 41, 44, 46, 307),
    "aarch64": (0xC00000B7, 198, 206, 211, 269),
}
IO_URING_SETUP = 425
X32 = 0x40000000  # system calls from here on are those of another table
ALLOW, REFUSE = 0x7FFF0000, 0x00050000 | 1  # EPERM
LOAD, EQUAL, AT_LEAST, ANY_BIT, AND, RETURN = 0x20, 0x15, 0x35, 0x45, 0x54, 0x06
FASTOPEN = 0x20000000  # MSG_FASTOPEN connects without asking Landlock


def main() -> None:
    """Create a network namespace with listening sockets, one for each port, and send all descriptors."""
    with socket.socket(fileno=CONTROL) as control:
        try:
            descriptors = new_namespace([int(port) for port in sys.argv[1:]])
        except OSError as error:
            control.sendall(f"{error.strerror}".encode())
        else:
            socket.send_fds(control, [b"\0"], descriptors)


def new_namespace(ports: list[int]) -> list[int]:
    """Move this process into a new network namespace; return its descriptors, and those of the listening sockets.

    Without the right to do so, a user namespace that has it comes first. Raises OSError if neither is allowed.
    """
    opened = []
    uid, gid = os.geteuid(), os.getegid()
    try:
        unshare(CLONE_NEWNET)
    except OSError:
        unshare(CLONE_NEWUSER | CLONE_NEWNET)
        for name, line in (("setgroups", "deny"), ("uid_map", f"{uid} {uid} 1"), ("gid_map", f"{gid} {gid} 1")):
            with open(f"/proc/self/{name}", "w") as file:
                file.write(line)
        opened.append(os.open("/proc/self/ns/user", os.O_RDONLY))
    opened.append(os.open("/proc/self/ns/net", os.O_RDONLY))
    bring_loopback_up()
    return [*opened, *(listening(port).detach() for port in ports)]


def unshare(flags: int) -> None:
    """Call unshare(2); raise OSError if it fails."""
    if LIBC.unshare(flags) != 0:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))


def bring_loopback_up() -> None:
    """Give the new namespace its loopback device: SIOCGIFFLAGS, then SIOCSIFFLAGS with IFF_UP (netdevice(7))."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as any_socket:
        request = array.array("B", struct.pack("16sh22x", b"lo", 0))
        fcntl.ioctl(any_socket, 0x8913, request)
        (flags,) = struct.unpack_from("h", request, 16)
        fcntl.ioctl(any_socket, 0x8914, struct.pack("16sh22x", b"lo", flags | 1))


def listening(port: int) -> socket.socket:
    """Return a socket that listens on this port of the loopback address."""
    server = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    server.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    server.bind(("127.0.0.1", port))
    server.listen(128)
    return server


def missing_for_ports() -> str | None:
    """Return what this kernel lacks to limit TCP by port; None if it lacks nothing."""
    if os.uname().machine not in CALLS:
        return f"no filter of system calls is written for {os.uname().machine}"
    abi = LIBC.syscall(CREATE_RULESET, None, ctypes.c_size_t(0), 1)
    return None if abi >= LEAST_ABI else "Landlock's rules for TCP need Linux 6.7 or newer"


@cache
def filter_steps() -> bytes:
    """Return a seccomp program that refuses sockets other than Unix, netlink and plain TCP ones, and fast open.

    Landlock knows neither UDP nor multipath TCP, and does not see what io_uring or a fast open connects.
    """
    architecture, socket_call, sendto, sendmsg, sendmmsg = CALLS[os.uname().machine]
    refuse, allow = _step(RETURN, REFUSE), _step(RETURN, ALLOW)
    head = [_step(LOAD, 4), _step(EQUAL, architecture, 1, 0), refuse, _step(LOAD, 0), _step(AT_LEAST, X32, 0, 1)]
    rest = [refuse, _step(EQUAL, IO_URING_SETUP, 0, 1), refuse]
    family, kind, protocol = 16, 24, 32  # of the arguments, as seccomp_data has them
    of_socket = [
        _step(LOAD, family),
        _step(EQUAL, socket.AF_UNIX, 6, 0),
        _step(EQUAL, socket.AF_NETLINK, 5, 0),
        _step(EQUAL, socket.AF_INET, 1, 0),
        _step(EQUAL, socket.AF_INET6, 0, 8),
        _step(LOAD, kind),
        _step(AND, 0xF),
        _step(EQUAL, socket.SOCK_STREAM, 1, 5),
        allow,
        _step(LOAD, protocol),
        _step(EQUAL, 0, 1, 0),
        _step(EQUAL, socket.IPPROTO_TCP, 0, 1),
        allow,
        refuse,
    ]
    sends = [
        part
        for call, flags in ((sendto, 40), (sendmsg, 32), (sendmmsg, 40))
        for part in (_step(EQUAL, call, 0, 4), _step(LOAD, flags), _step(ANY_BIT, FASTOPEN, 0, 1), refuse, allow)
    ]
    return b"".join([*head, *rest, _step(EQUAL, socket_call, 0, len(of_socket)), *of_socket, *sends, allow])


def _step(code: int, value: int, if_true: int = 0, if_false: int = 0) -> bytes:
    """Return one instruction of a seccomp program: `struct sock_filter`."""
    return struct.pack("=HBBI", code, if_true, if_false, value)


if __name__ == "__main__":
    with suppress(BrokenPipeError):
        main()
