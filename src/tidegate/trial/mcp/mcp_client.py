"""An MCP client for agents that are part of Tidegate and have no client of their own.

The package `mcp` is not used: it needs fourteen more packages and half a second to import. The process, its limits and
the cutting of long lines would remain Tidegate's task, and the rest of the protocol is small.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from tidegate.model.agent import ServerTools, Tool, ToolAnswer
from tidegate.model.command import CommandResult
from tidegate.model.event import CallStatus
from tidegate.trial.mcp.answer_status import fault_of, status_of
from tidegate.trial.mcp.recorder_proxy import CALL, GIVEN_UP, INITIALIZE, PROTOCOL, messages
from tidegate.trial.mcp.server_process import LineTooLongError, ServerProcess, serving
from tidegate.trial.processes import MEGABYTE, Command, Supervisor

START_SECS = 30.0  # per request: `initialize`, and each page of the tool list; like the check before the agent
MAX_TOOLS = 5000  # no further page is requested after that many
MAX_PAGES = 100  # of the tool list
ANYTHING = {"type": "object"}  # the input schema of a tool without one
METHOD_NOT_FOUND = -32601  # JSON-RPC 2.0, 5.1


class NoAnswerFromServerError(Exception):
    """A request got no result; carries the status of the call and the reason."""

    def __init__(self, status: CallStatus, why: str) -> None:
        super().__init__(why)
        self.status = status
        self.why = why


@asynccontextmanager
async def connected(supervisor: Supervisor, server: Command, folder: Path) -> AsyncIterator[McpClient]:
    """Yield a client of this server, which runs beside the supervisor's commands until the block ends."""
    line_bytes = int(server.limits.output_mb * MEGABYTE)
    async with supervisor.beside() as other, serving(other, server, folder, line_bytes) as process:
        yield McpClient(process)


class McpClient:
    """A session with a server, one request at a time. `over` is how the server ended, once that has been noticed."""

    def __init__(self, server: ServerProcess) -> None:
        self._server = server
        self._number = 0
        self.over: CommandResult | None = None

    async def open(self, timeout_secs: float = START_SECS) -> ServerTools:
        """Open the session and return the server's tools, in its order. Raises NoAnswerFromServerError on failure."""
        me = {"name": "tidegate", "version": "1"}
        params = {"protocolVersion": PROTOCOL, "capabilities": {}, "clientInfo": me}
        hello = await self._request(INITIALIZE, params, timeout_secs)
        self._say({"method": "notifications/initialized"})
        tools: list[Tool] = []
        cursor: Any = None
        for _ in range(MAX_PAGES):
            page = await self._request("tools/list", {} if cursor is None else {"cursor": cursor}, timeout_secs)
            listed = page.get("tools")
            tools += map(_tool, listed if isinstance(listed, list) else [])
            cursor = page.get("nextCursor")
            if cursor is None or len(tools) > MAX_TOOLS:
                break
        return ServerTools(tuple(tools), _string(hello.get("instructions")))

    async def call(self, tool: str, given: Mapping[str, Any], timeout_secs: float) -> ToolAnswer:
        """Call a tool and return its answer. Errors are also returned as an answer, with a status."""
        if self.over is not None:
            return ToolAnswer("not_executed", self._gone())
        try:
            answer = await self._answered(CALL, {"name": tool, "arguments": dict(given)}, timeout_secs)
            result = _result(answer)
        except NoAnswerFromServerError as error:
            return ToolAnswer(error.status, error.why)
        status = status_of(answer)
        return ToolAnswer("error" if status else "ok", fault_of(status) or _text(result))

    async def _request(self, method: str, params: Mapping[str, Any], timeout_secs: float) -> dict[str, Any]:
        return _result(await self._answered(method, params, timeout_secs))

    async def _answered(self, method: str, params: Mapping[str, Any], timeout_secs: float) -> dict[str, Any]:
        self._number += 1
        self._say({"id": self._number, "method": method, "params": params})
        try:
            async with asyncio.timeout(timeout_secs):
                await self._server.all_said()
                return await self._answer(self._number)
        except TimeoutError:
            self._say({"method": GIVEN_UP, "params": {"requestId": self._number, "reason": "timeout"}})
            raise NoAnswerFromServerError("timeout", f"no answer within {timeout_secs:g} s") from None
        except LineTooLongError:
            raise NoAnswerFromServerError("error", "the server's answer is too long to be read") from None

    async def _answer(self, number: int) -> dict[str, Any]:
        """Return the answer with this number. Invalid lines and answers to abandoned requests are skipped."""
        while (line := await self._server.next_line()) is not None:
            await asyncio.sleep(0)  # a server that prints endlessly must not block other trials
            for message in messages(line):
                if "method" in message:
                    self._reply(message)
                elif message.get("id") == number:
                    return message
        ended = await self._server.ended()
        self.over = CommandResult(
            command="",
            end=ended.end,
            exit_code=ended.exit_code,
            signal=ended.signal,
            limit=ended.limit,
            stderr=ended.reason,
        )
        raise NoAnswerFromServerError("unfinished", self._gone())

    def _gone(self) -> str:
        return f"the server has ended: {self.over.how_it_ended() if self.over else 'for an unknown reason'}"

    def _reply(self, message: Mapping[str, Any]) -> None:
        """Answer the server's own requests: a ping with success, everything else with an error."""
        if message.get("id") is None or self._server.is_behind:
            return
        if message.get("method") == "ping":
            self._say({"id": message["id"], "result": {}})
        else:
            error = {"code": METHOD_NOT_FOUND, "message": "this client offers nothing"}
            self._say({"id": message["id"], "error": error})

    def _say(self, message: Mapping[str, Any]) -> None:
        self._server.say(json.dumps({"jsonrpc": "2.0", **message}).encode())


def _result(answer: Mapping[str, Any]) -> dict[str, Any]:
    """Return the result in an answer. Raises NoAnswerFromServerError if it has none."""
    result = answer.get("result")
    if isinstance(result, dict):
        return result
    error = answer.get("error")
    said = _string(error.get("message")) if isinstance(error, dict) else ""
    raise NoAnswerFromServerError("error", said or "the server answered with neither a result nor an error")


def _tool(given: Any) -> Tool:
    """Return a tool as the server describes it; missing texts are empty."""
    fields = given if isinstance(given, dict) else {}
    hints = fields.get("annotations")
    return Tool(
        _string(fields.get("name")),
        _string(fields.get("description")),
        fields.get("inputSchema", ANYTHING),
        hints if isinstance(hints, dict) else {},
    )


def _text(result: Mapping[str, Any]) -> str:
    """Return the text of a result."""
    content = result.get("content")
    parts = [_part(part) for part in content if isinstance(part, dict)] if isinstance(content, list) else []
    if not parts and "structuredContent" in result:
        parts = [json.dumps(result["structuredContent"])]
    return "\n".join(parts)


def _part(part: Mapping[str, Any]) -> str:
    """Return the text of a content block; for other content, its type and name in brackets."""
    resource = part.get("resource")
    inner = resource if isinstance(resource, dict) else part
    if isinstance(inner.get("text"), str):
        return _string(inner["text"])
    named = (part.get("type"), inner.get("mimeType"), inner.get("uri"))
    return f"[{' '.join(filter(None, map(_string, named)))}]"


def _string(given: Any) -> str:
    """Return `given` if it is text, else "". Invalid Unicode (an unpaired surrogate) becomes `?`."""
    return given.encode(errors="replace").decode() if isinstance(given, str) else ""
