"""Creates a network namespace: `python -I -S new_namespace.py` sends its descriptors to Tidegate.

This file runs without the package and uses the standard library only. Sources: namespaces(7), network_namespaces(7).
"""

# It starts fast: no pathlib.
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

CONTROL = 0  # file descriptor of the socket that descriptors are sent to
CLONE_NEWUSER, CLONE_NEWNET = 0x10000000, 0x40000000
LIBC = ctypes.CDLL(None, use_errno=True)


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

    Without the right to do so, a user namespace that has it comes first; not for root, who could not become another
    user in it. Raises OSError if neither is allowed.
    """
    opened = []
    uid, gid = os.geteuid(), os.getegid()
    try:
        unshare(CLONE_NEWNET)
    except OSError:
        if uid == 0:
            raise
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


if __name__ == "__main__":
    with suppress(BrokenPipeError):
        main()
