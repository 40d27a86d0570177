"""Answers a command's calls of socket(2) where its network is the machine's: its sockets reach the loopback alone.

Landlock limits ports, not hosts. A socket that is bound to the loopback device connects to no other host and accepts no
connection of one, and none but a process with CAP_NET_RAW can change that. The filter of system calls (`network_steps`)
asks for each; nothing of the command's memory is read, which it could change meanwhile.

Sources: seccomp_unotify(2), socket(7).
"""

from __future__ import annotations

import _socket  # `socket` imports much
import os
from contextlib import suppress
from fcntl import ioctl
from struct import pack, unpack_from

RECEIVE, SEND, ADD = 0xC0502100, 0xC0182101, 0x40182103  # ioctls of a listener
NOTICE_BYTES, ARGUMENTS = 80, 32  # of struct seccomp_notif, and where the call's arguments begin
AND_SEND = 2  # the new descriptor is the answer
LOOPBACK = b"lo"


def answer(listener: int, owner: tuple[int, int] | None) -> None:
    """Give the command that asks a new socket of `owner`, or the error of making it."""
    notice = bytearray(NOTICE_BYTES)
    with suppress(OSError):  # it was killed meanwhile
        ioctl(listener, RECEIVE, notice)
        (number,), (family, kind, protocol) = unpack_from("=Q", notice), unpack_from("=3Q", notice, ARGUMENTS)
        try:
            _give(listener, number, (family, kind, protocol), owner)
        except OSError as error:
            ioctl(listener, SEND, bytearray(pack("=QqiI", number, 0, -(error.errno or 1), 0)))


def _give(listener: int, number: int, asked: tuple[int, int, int], owner: tuple[int, int] | None) -> None:
    family, kind, protocol = asked
    one = _socket.socket(family, kind & 0xF, protocol)
    try:
        one.setsockopt(_socket.SOL_SOCKET, _socket.SO_BINDTODEVICE, LOOPBACK)
        one.setblocking(not kind & _socket.SOCK_NONBLOCK)
        if owner is not None:
            os.fchown(one.fileno(), *owner)
        ioctl(listener, ADD, pack("=QIIII", number, AND_SEND, one.fileno(), 0, kind & _socket.SOCK_CLOEXEC))
    finally:
        one.close()
