"""Sends HTTP requests to the recorder at its Unix socket."""

from __future__ import annotations

import asyncio
import socket
from pathlib import Path

import httpcore2
import httpx2
from anyio.abc import SocketStream
from httpcore2._backends.anyio import AnyIOStream


class _Sockets(httpcore2.AnyIOBackend):
    """Connects to Unix sockets by asyncio's transports. anyio's own streams print `InvalidStateError` if a read is
    cancelled when data has come.
    """

    async def connect_unix_socket(self, path: str, *_: object, **__: object) -> httpcore2.AsyncNetworkStream:
        """Return a connection. Raises ConnectError."""
        connection = socket.socket(socket.AF_UNIX)
        connection.setblocking(False)
        try:
            await asyncio.get_running_loop().sock_connect(connection, path)
        except OSError as error:
            connection.close()
            raise httpcore2.ConnectError(str(error)) from error
        return AnyIOStream(await SocketStream.from_socket(connection))


class OverSocket(httpx2.AsyncHTTPTransport):
    """Sends requests to the recorder at a Unix socket."""

    def __init__(self, path: Path) -> None:
        super().__init__(verify=False)
        self._pool = httpcore2.AsyncConnectionPool(uds=str(path), network_backend=_Sockets())
