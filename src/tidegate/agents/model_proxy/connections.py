"""The server below our proxies: a thread for each connection, within limits of connections and of bytes.

Every process of the machine can connect to it. One that shows no token gets little memory and little time.
"""

from __future__ import annotations

import socket
from collections import Counter
from contextlib import suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from io import BufferedReader
from threading import Lock
from typing import Any

MOST_CONNECTIONS = 256
MOST_OF_ONE_TRIAL = 64
HEAD_BYTES = 64 << 10  # of a request's first line and headers
HEAD_SECS = 20.0  # that a connection without a token may be silent
LARGEST_REQUEST = 32 << 20  # bytes


class Connections(ThreadingHTTPServer):
    """Accepts connections. When there are too many, the oldest one that has shown no token is closed."""

    daemon_threads = True
    block_on_close = False

    def __init__(self, listener: socket.socket, handler: type[BaseHTTPRequestHandler]) -> None:
        """`listener` already listens; its network namespace may be another one."""
        super().__init__(listener.getsockname(), handler, bind_and_activate=False)
        self.socket.close()
        self.socket = listener
        self.server_port: int = listener.getsockname()[1]
        self._lock = Lock()
        self._strangers: dict[Any, None] = {}  # sockets, the oldest first
        self._known: dict[Any, str] = {}  # the token that each of the others has shown
        self._of_trial: Counter[str] = Counter()

    def process_request(self, request: Any, client_address: Any) -> None:
        """Serve the connection in a thread of its own."""
        with self._lock:
            full = len(self._strangers) + len(self._known) >= MOST_CONNECTIONS
            oldest = next(iter(self._strangers), None) if full else None
            if oldest is not None:
                del self._strangers[oldest]
                with suppress(OSError):
                    oldest.shutdown(socket.SHUT_RDWR)  # its thread sees the end and leaves
            refused = full and oldest is None
            if not refused:
                self._strangers[request] = None
        if refused:
            self.shutdown_request(request)
        else:
            super().process_request(request, client_address)

    def admit(self, request: Any, token: str) -> bool:
        """Count the connection as that token's; False if the token has too many."""
        with self._lock:
            if self._known.get(request) == token:
                return True
            if self._of_trial[token] >= MOST_OF_ONE_TRIAL:
                return False
            self._forget(request)
            self._known[request] = token
            self._of_trial[token] += 1
            return True

    def shutdown_request(self, request: Any) -> None:
        """Close the connection, which counts no more."""
        with self._lock:
            self._forget(request)
        super().shutdown_request(request)

    def _forget(self, request: Any) -> None:
        self._strangers.pop(request, None)
        token = self._known.pop(request, None)
        if token is not None:
            self._of_trial[token] -= 1
            if not self._of_trial[token]:
                del self._of_trial[token]

    def handle_error(self, request: object, client_address: object) -> None:
        """Do nothing: an agent that closes the connection is not an error of Tidegate."""


class HeadReader:
    """Reads requests from a connection: of the lines before a body so many bytes, and no more."""

    def __init__(self, file: BufferedReader) -> None:
        self._file = file
        self._left = HEAD_BYTES
        self.read = file.read
        self.close = file.close

    def begin(self) -> None:
        """A new request may begin."""
        self._left = HEAD_BYTES

    @property
    def is_spent(self) -> bool:
        """The lines were longer than they may be: some of them are missing."""
        return self._left < 0

    @property
    def closed(self) -> bool:
        """As of a file."""
        return self._file.closed

    def readline(self, limit: int = HEAD_BYTES) -> bytes:
        """Return the next line; empty when there was too much of them, as at the end of a file."""
        line = self._file.readline(min(limit, max(0, self._left + 1)))
        self._left -= len(line)
        return b"" if self._left < 0 else line


def size_of(text: str | bytes, base: int) -> int:
    """Return the size that the text says; one that is too large where it says none."""
    try:
        number = int(text, base)
    except ValueError:
        return LARGEST_REQUEST + 1
    return number if number >= 0 else LARGEST_REQUEST + 1
