"""The supervisor's connection to Tidegate.

Requests and answers are JSON lines on its standard input, which is a socket; end of file means that Tidegate has ended.
"""

from __future__ import annotations

import _socket  # `socket` imports much
import json
import os
from contextlib import suppress
from struct import pack

CONTROL = 0  # file descriptor of the connection to Tidegate: standard input, in both directions
CANCEL = b"cancel"


class Control:
    """The connection to Tidegate."""

    def __init__(self) -> None:
        self._buffer = bytearray()

    def next_line(self) -> bytes | None:
        """Wait for a line and return it; None if Tidegate has ended."""
        while b"\n" not in self._buffer:
            if not self.receive():
                return None
        line, _, self._buffer = self._buffer.partition(b"\n")
        return bytes(line)

    @property
    def has_more(self) -> bool:
        """True if more data arrived together with the last line."""
        return bool(self._buffer)

    def receive(self) -> bool:
        """Read the available data; return False if Tidegate has ended."""
        try:
            data = os.read(CONTROL, 1 << 20)
        except ConnectionError:
            return False
        self._buffer += data
        return bool(data)

    def introduce(self, missing: str | None) -> None:
        """Send the first line: what is missing here. If nothing is, it comes with a descriptor of this process."""
        own = [] if missing is not None else [os.pidfd_open(os.getpid())]
        connection = _socket.socket(fileno=CONTROL)
        line = json.dumps({"missing": missing}).encode() + b"\n"
        with suppress(ConnectionError):
            connection.sendmsg([line], [(_socket.SOL_SOCKET, _socket.SCM_RIGHTS, pack("i", one)) for one in own])
        connection.detach()
        for one in own:
            os.close(one)

    def send(self, message: dict[str, object]) -> None:
        """Send a line. A closed connection is ignored here; the next read reports it."""
        data = json.dumps(message).encode() + b"\n"
        with suppress(ConnectionError):
            while data:
                data = data[os.write(CONTROL, data) :]
