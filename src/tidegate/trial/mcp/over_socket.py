"""Sends HTTP requests to the recorder at its Unix socket, and hears what comes back as it was written."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

import httpcore2
import httpx2
from anyio.abc import SocketStream

from tidegate.trial.mcp.http_proxy import Events


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
    """Sends requests to the recorder at a Unix socket. `heard` is called with each JSON body and each event's data."""

    def __init__(self, path: Path, heard: Callable[[bytes], None] = lambda _: None) -> None:
        super().__init__(verify=False)
        self._pool = httpcore2.AsyncConnectionPool(uds=str(path), network_backend=_Sockets())
        self._heard = heard

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        """Return the answer, which is heard before the client can read it."""
        request.headers["Accept-Encoding"] = "identity"
        response = await super().handle_async_request(request)
        is_stream = response.headers.get("Content-Type", "").startswith("text/event-stream")
        response.stream = _Heard(response.stream, self._heard, is_stream=is_stream)
        return response


class _Heard(httpx2.AsyncByteStream):
    """The body of an answer. Its messages are heard."""

    def __init__(self, body: Any, heard: Callable[[bytes], None], *, is_stream: bool) -> None:
        self._body, self._heard, self._is_stream = body, heard, is_stream

    async def __aiter__(self) -> AsyncIterator[bytes]:
        events, whole = Events(), bytearray()
        async for piece in self._body:
            if self._is_stream:
                for name, data in events.take(piece):
                    if name in (b"", b"message"):
                        self._heard(data)
            else:
                whole += piece
            yield piece
        self._heard(bytes(whole))

    async def aclose(self) -> None:
        await self._body.aclose()
