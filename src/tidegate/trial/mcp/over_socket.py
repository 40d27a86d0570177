"""Sends HTTP requests to the recorder at its Unix socket."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import httpcore2
import httpx2
from anyio.abc import SocketStream


class _Sockets(httpcore2.AnyIOBackend):
    """Connects to Unix sockets by asyncio's transports. anyio's own streams print `InvalidStateError` if a read is
    cancelled when data has come.
    """

    async def connect_unix_socket(self, path: str, *_: object, **__: object) -> httpcore2.AsyncNetworkStream:
        """Return a connection: a stream of the usual class, around another one of anyio's."""
        plain: Any = await super().connect_unix_socket(path)
        connection = plain.get_extra_info("socket").dup()
        await plain.aclose()
        stream: httpcore2.AsyncNetworkStream = type(plain)(await SocketStream.from_socket(connection))
        return stream


class OverSocket(httpx2.AsyncHTTPTransport):
    """Sends requests to the recorder at a Unix socket."""

    def __init__(self, path: Path) -> None:
        super().__init__(verify=False)
        self._pool = httpcore2.AsyncConnectionPool(uds=str(path), network_backend=_Sockets())
