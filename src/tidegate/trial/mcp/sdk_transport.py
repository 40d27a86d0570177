"""Carries the official SDK's messages to a server that a supervisor runs: over its input and output, or HTTP."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import anyio
import httpx2
from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream
from mcp.client import Transport
from mcp.client.sse import sse_client
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.message import SessionMessage
from mcp_types import (
    INTERNAL_ERROR,
    ElicitResult,
    ErrorData,
    JSONRPCError,
    JSONRPCRequest,
    ListRootsResult,
    jsonrpc_message_adapter,
)

from tidegate.model.target import McpServer
from tidegate.trial.mcp.over_socket import OverSocket
from tidegate.trial.mcp.server_process import LineTooLongError, ServerProcess
from tidegate.trial.mcp.session_notes import INITIALIZE, as_dict, messages

TOO_LONG = "the server's answer is too long to be read"
CHANGED = {
    "notifications/tools/list_changed": ("tools",),
    "notifications/resources/list_changed": ("resources", "resourceTemplates"),
    "notifications/prompts/list_changed": ("prompts",),
}


Streams = tuple[Any, Any]  # the SDK has no public name for their types
Down = MemoryObjectSendStream[SessionMessage | Exception]
Up = MemoryObjectReceiveStream[SessionMessage]


async def _no_roots(_: object) -> ListRootsResult:
    return ListRootsResult(roots=[])


async def _declined(*_: object) -> ElicitResult:
    return ElicitResult(action="decline")


AGENT: dict[str, Any] = {"list_roots_callback": _no_roots, "elicitation_callback": _declined}  # what agents can do too


class Answers:
    """The last answer to a request of ours, by method, as the server wrote it, or {} if two differ; and the last
    request, whose `method` it has. There is one at a time. `changed`: the lists that it says have changed.
    `version`: of the protocol, as it answered to `initialize`.
    """

    def __init__(self) -> None:
        self.answers: dict[str, dict[str, Any]] = {}
        self.method = ""
        self.changed: set[str] = set()
        self.version = ""
        self.last: str | int = 0

    def asked(self, request: JSONRPCRequest) -> None:
        """Take notice of a request."""
        self.last, self.method = request.id, request.method
        self.answers.pop(self.method, None)

    def answered(self, message: dict[str, Any]) -> None:
        """Take notice of an answer, or of a list that has changed."""
        if (said := message.get("method")) in CHANGED:
            self.changed.update(CHANGED[said])
        if "method" not in message and message.get("id") == self.last:
            if self.method == INITIALIZE:
                self.version = str(as_dict(message.get("result")).get("protocolVersion"))
            self.answers[self.method] = message if self.answers.get(self.method, message) == message else {}


class _Lines:
    """Both directions of a session on stdio."""

    def __init__(self, answers: Answers, server: ServerProcess) -> None:
        self._answers = answers
        self._server = server

    async def pass_down(self, client: Down) -> None:
        """Pass the server's messages on until it ends. Other lines than messages are skipped."""
        async with client:
            while True:
                try:
                    line = await self._server.next_line()
                except LineTooLongError:
                    error = ErrorData(code=INTERNAL_ERROR, message=TOO_LONG)
                    await client.send(SessionMessage(JSONRPCError(jsonrpc="2.0", id=self._answers.last, error=error)))
                    continue
                if line is None:
                    return
                await asyncio.sleep(0)  # a server that prints endlessly must not block other trials
                for message in messages(line, self._answers.version):
                    self._answers.answered(message)
                    if "method" in message and self._server.is_behind:
                        continue  # it asks and does not listen
                    await self._passed(message, client)

    async def _passed(self, message: dict[str, Any], client: Down) -> None:
        try:
            parsed = jsonrpc_message_adapter.validate_python(message, by_name=False)
        except ValueError:
            if "method" in message or message.get("id") != self._answers.last:
                return
            error = ErrorData(code=INTERNAL_ERROR, message="the server answered with neither a result nor an error")
            parsed = JSONRPCError(jsonrpc="2.0", id=self._answers.last, error=error)
        await client.send(SessionMessage(parsed))

    async def pass_up(self, client: Up) -> None:
        """Pass the client's messages on."""
        async with client:
            async for message in client:
                sent = message.message
                if isinstance(sent, JSONRPCRequest):
                    self._answers.asked(sent)
                self._server.say(json.dumps(sent.model_dump(by_alias=True, exclude_unset=True)).encode())
                if isinstance(sent, JSONRPCRequest):
                    await self._server.all_said()


@asynccontextmanager
async def _pumped(
    down: Callable[[Down], Coroutine[Any, Any, None]], up: Callable[[Up], Coroutine[Any, Any, None]]
) -> AsyncIterator[Streams]:
    """Yield the streams of a transport whose messages these two pass on."""
    down_end, received = anyio.create_memory_object_stream[SessionMessage | Exception](0)
    sent, up_end = anyio.create_memory_object_stream[SessionMessage](0)
    async with anyio.create_task_group() as tasks, received, sent:
        tasks.start_soon(down, down_end)
        tasks.start_soon(up, up_end)
        yield received, sent
        tasks.cancel_scope.cancel()


def lines_of(answers: Answers, server: ServerProcess | None) -> Transport:
    """Return the lines of a server on stdio as a transport of the SDK."""
    assert server is not None
    lines = _Lines(answers, server)
    return _pumped(lines.pass_down, lines.pass_up)


@asynccontextmanager
async def _noting(answers: Answers, server: McpServer, path: Path) -> AsyncIterator[Streams]:
    def heard(data: bytes) -> None:
        for message in messages(data, answers.version):
            answers.answered(message)

    def over_socket(
        headers: dict[str, str] | None = None, timeout: object = None, auth: object = None
    ) -> httpx2.AsyncClient:
        return httpx2.AsyncClient(transport=OverSocket(path, heard), timeout=None)

    url = urlsplit(server.url)._replace(scheme="http").geturl()  # the recorder speaks TLS, if the server does
    carrier: AbstractAsyncContextManager[Streams]
    async with over_socket() as http:
        if server.is_sse:
            carrier = sse_client(url, httpx_client_factory=over_socket)
        else:
            carrier = streamable_http_client(url, http_client=http)
        async with carrier as (received, sent):

            async def down(client: Down) -> None:
                async with client:
                    async for item in received:
                        await client.send(item)

            async def up(client: Up) -> None:
                async with client:
                    async for item in client:
                        if isinstance(item.message, JSONRPCRequest):
                            answers.asked(item.message)
                        await sent.send(item)

            async with _pumped(down, up) as streams:
                yield streams


def requests_to(answers: Answers, server: McpServer, path: Path) -> Transport:
    """Return a transport of the SDK to a server with a URL."""
    return _noting(answers, server, path)
