"""Carries the official SDK's messages over the standard input and output of a server that a supervisor runs."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import anyio
from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream
from mcp.client import Transport
from mcp.shared.message import SessionMessage
from mcp_types import INTERNAL_ERROR, ErrorData, JSONRPCError, JSONRPCRequest, jsonrpc_message_adapter

from tidegate.trial.mcp.server_process import LineTooLongError, ServerProcess
from tidegate.trial.mcp.session_notes import messages

TOO_LONG = "the server's answer is too long to be read"


class Lines:
    """Both directions of a session. `answers`: the last one to a request of ours, by method, as the server wrote it."""

    def __init__(self, server: ServerProcess) -> None:
        self.answers: dict[str, dict[str, Any]] = {}
        self._server = server
        self._last: str | int = 0
        self.method = ""  # of the last request; there is one at a time

    async def pass_down(self, client: MemoryObjectSendStream[SessionMessage | Exception]) -> None:
        """Pass the server's messages on until it ends. Other lines than messages are skipped."""
        async with client:
            while True:
                try:
                    line = await self._server.next_line()
                except LineTooLongError:
                    error = ErrorData(code=INTERNAL_ERROR, message=TOO_LONG)
                    await client.send(SessionMessage(JSONRPCError(jsonrpc="2.0", id=self._last, error=error)))
                    continue
                if line is None:
                    return
                await asyncio.sleep(0)  # a server that prints endlessly must not block other trials
                for message in messages(line):
                    if "method" in message and self._server.is_behind:
                        continue  # it asks and does not listen
                    if "method" not in message and message.get("id") == self._last:
                        self.answers[self.method] = message
                    await self._passed(message, client)

    async def _passed(
        self, message: dict[str, Any], client: MemoryObjectSendStream[SessionMessage | Exception]
    ) -> None:
        try:
            parsed = jsonrpc_message_adapter.validate_python(message, by_name=False)
        except ValueError:
            if "method" in message or message.get("id") != self._last:
                return
            error = ErrorData(code=INTERNAL_ERROR, message="the server answered with neither a result nor an error")
            parsed = JSONRPCError(jsonrpc="2.0", id=self._last, error=error)
        await client.send(SessionMessage(parsed))

    async def pass_up(self, client: MemoryObjectReceiveStream[SessionMessage]) -> None:
        """Pass the client's messages on."""
        async with client:
            async for message in client:
                sent = message.message
                if isinstance(sent, JSONRPCRequest):
                    self._last, self.method = sent.id, sent.method
                self._server.say(json.dumps(sent.model_dump(by_alias=True, exclude_unset=True)).encode())
                if isinstance(sent, JSONRPCRequest):
                    await self._server.all_said()


@asynccontextmanager
async def _streams(lines: Lines) -> AsyncIterator[Any]:
    down_end, down = anyio.create_memory_object_stream[SessionMessage | Exception](0)
    up, up_end = anyio.create_memory_object_stream[SessionMessage](0)
    async with anyio.create_task_group() as tasks, down, up:
        tasks.start_soon(lines.pass_down, down_end)
        tasks.start_soon(lines.pass_up, up_end)
        yield down, up
        tasks.cancel_scope.cancel()


def lines_of(lines: Lines) -> Transport:
    """Return the lines as a transport of the SDK."""
    return _streams(lines)
