"""The client of the MCP server under test: the official SDK's, behind the supervisor that runs the server.

The SDK takes half a second to import, so it is imported where a client is opened.
"""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeVar

from tidegate.agents.tool_list import schema_fault
from tidegate.model.agent import ServerTools, Tool, ToolAnswer
from tidegate.model.event import CallStatus, CommandResult
from tidegate.model.probe import ServerPart
from tidegate.model.target import McpServer
from tidegate.trial.mcp.answer_status import CALL, PROMPT, READ, fault_of, status_of
from tidegate.trial.mcp.server_process import ServerProcess, serving
from tidegate.trial.processes import MEGABYTE, Command, Supervisor

if TYPE_CHECKING:
    from mcp import Client
    from mcp_types import PaginatedResult

    from tidegate.trial.mcp.sdk_transport import Answers

T = TypeVar("T")
START_SECS = 30.0  # for the server to open a session, and for all pages of a list
MAX_LISTED = 5000  # no further page of a list is requested after so many entries
MAX_PAGES = 100
SIMPLE = frozenset({"type", "enum", "const"})  # keywords that take no time, whatever the server writes
ANYTHING = {"type": "object"}  # the input schema of a tool without one
Mode = Literal["auto", "legacy"]  # of the SDK: with `server/discover` first, or with `initialize` only
MODES: tuple[Mode, ...] = ("auto", "legacy")  # as they are tried


class NoAnswerFromServerError(Exception):
    """A request got no result; carries the status of the call and the reason."""

    def __init__(self, status: CallStatus, why: str) -> None:
        super().__init__(why)
        self.status = status
        self.why = why


@asynccontextmanager
async def connected(
    supervisor: Supervisor, server: Command, folder: Path, start_secs: float = START_SECS
) -> AsyncIterator[McpClient]:
    """Yield a client with an open session; the server runs beside the supervisor's commands until the block ends.

    A server that opens no session after the first message of today's protocol is started again for the older one.
    Raises NoAnswerFromServerError if no session can be opened.
    """
    folder.mkdir()
    line_bytes = int(server.limits.output_mb * MEGABYTE)
    async with supervisor.beside() as other:
        for mode in MODES:
            async with (
                serving(other, server, folder / mode, line_bytes) as process,
                _session(McpClient(process), mode, start_secs) as client,
            ):
                if client is not None:
                    yield client
                    return


@asynccontextmanager
async def connected_at(server: McpServer, socket: Path, start_secs: float = START_SECS) -> AsyncIterator[McpClient]:
    """Yield a client with an open session, of a server with a URL, which the recorder serves at this Unix socket.

    It is also asked for today's protocol first, and then for the older one.
    """
    for mode in MODES:
        async with _session(McpClient(None), mode, start_secs, (server, socket)) as client:
            if client is not None:
                yield client
                return


@asynccontextmanager
async def _session(
    client: McpClient, mode: Mode, start_secs: float, at: tuple[McpServer, Path] | None = None
) -> AsyncIterator[McpClient | None]:
    """Yield the client with an open session; None if the server ended, or answered with an error, and another mode is
    left.
    """
    running = asyncio.ensure_future(client.keep_open(mode, at))
    try:
        try:
            await client.opened(start_secs)
        except NoAnswerFromServerError as error:
            if mode == MODES[-1] or error.status == "timeout":
                raise
        yield client if client.is_open else None
    finally:
        client.closing.set()
        if not client.is_open:
            running.cancel()
        await asyncio.gather(running, return_exceptions=True)


class McpClient:
    """A session with a server. `over`: how the server ended, once that was noticed; `fault`: of an answer, if any.

    `refused`: why agents cannot use what the server lists, see `Trial.refused`.
    """

    def __init__(self, server: ServerProcess | None) -> None:
        self.over: CommandResult | None = None
        self.fault = ""
        self.refused: dict[str, str] = {}
        self.closing = asyncio.Event()
        self._server = server
        self._session: asyncio.Future[Client] = asyncio.get_running_loop().create_future()
        self._lines: Answers | None = None
        self._schemas: dict[str, Any] = {}

    @property
    def is_open(self) -> bool:
        """True once a session was opened."""
        return self._session.done() and not self._session.cancelled() and self._session.exception() is None

    async def keep_open(self, mode: Mode, at: tuple[McpServer, Path] | None = None) -> None:
        """Open the session and keep it until `closing` is set; the SDK has to enter and leave it in one task.

        `at`: a server with a URL, and its Unix socket.
        """
        from mcp import Client  # 610 ms
        from mcp_types import Implementation

        from tidegate.trial.mcp.sdk_transport import Answers, lines_of, requests_to

        answers = self._lines = Answers()
        try:
            me = Implementation(name="tidegate", version="1")
            carrier = requests_to(answers, *at) if at else lines_of(answers, self._server)
            async with Client(carrier, mode=mode, cache=None, client_info=me) as client:
                self._session.set_result(client)
                await self.closing.wait()
        except Exception as error:  # the SDK raises what the server makes it raise, in groups
            while isinstance(error, ExceptionGroup):
                error = error.exceptions[0]
            if not self._session.done():
                self._session.set_exception(error)

    async def opened(self, timeout_secs: float = START_SECS) -> None:
        """Wait for the session. Raises NoAnswerFromServerError on failure."""
        await self._awaited(asyncio.shield(self._session), timeout_secs)

    async def tools(self) -> ServerTools:
        """Return the tools and instructions, in the server's order. Raises NoAnswerFromServerError."""
        client = self._session.result()
        listed = await self._listed("tools/list", "tools", client.list_tools)
        tools = tuple(map(_tool, listed))
        self._schemas = {tool.name: tool.schema for tool in tools}
        return ServerTools(tools, _string(client.instructions))

    async def interface(self) -> dict[str, Any]:
        """Return all that the server offers, as it describes it. Raises NoAnswerFromServerError."""
        client = self._session.result()
        has = client.server_capabilities
        lists: tuple[tuple[str, str, object, Callable[..., Awaitable[PaginatedResult]]], ...] = (
            ("tools/list", "tools", True, client.list_tools),
            ("resources/list", "resources", has.resources, client.list_resources),
            ("resources/templates/list", "resourceTemplates", has.resources, client.list_resource_templates),
            ("prompts/list", "prompts", has.prompts, client.list_prompts),
        )
        found: dict[str, Any] = {}
        for method, key, declared, page in lists:
            try:
                found[key] = await self._listed(method, key, page) if declared else []
            except NoAnswerFromServerError as error:
                if error.status not in ("error", "invalid") or (
                    key == "tools" and (has.tools or not (has.resources or has.prompts))
                ):
                    raise  # servers that offer something else may have no method for it
                if error.status == "invalid":
                    self.refused[f"clients refuse the answer to `{method}`"] = ""
                found[key] = []
        capabilities = has.model_dump(mode="json", by_alias=True, exclude_none=True)
        return {**found, "instructions": _string(client.instructions), "capabilities": capabilities}

    async def lists(self, tool: str) -> bool:
        """Return True if the server lists the tool, by now."""
        if tool not in self._schemas:
            with suppress(NoAnswerFromServerError):
                await self.tools()
        return tool in self._schemas

    def compare(self, tool: str, given: Mapping[str, Any]) -> None:
        """Note it in `refused` if the schema of a listed tool does not allow this input, so that no model sends it."""
        from tidegate.checks.evaluators.parameters import first_error  # 60 ms

        schema = self._schemas[tool]
        if schema_fault(schema):
            return
        listed = {name: one for name, one in schema.get("properties", {}).items() if isinstance(one, dict)}
        kept = {name: {key: one[key] for key in one.keys() & SIMPLE} for name, one in listed.items()}
        known = {"properties": kept, "required": schema.get("required", []), "additionalProperties": False}
        if fault := first_error(known, dict(given)):
            self.refused[f"the input schema of `{tool}` does not allow what it is called with: {fault}"] = ""

    async def ask(self, what: ServerPart, name: str, given: Mapping[str, Any], timeout_secs: float) -> ToolAnswer:
        """Call a tool, read a resource or get a prompt, and return the answer as text.

        Errors are also returned as an answer, with a status: `invalid` if clients refuse what the server answered.
        """
        match what:
            case "tool":
                return await self._told(CALL, lambda client: client.call_tool(name, dict(given)), timeout_secs)
            case "resource":
                return await self._told(READ, lambda client: client.read_resource(name), timeout_secs)
            case "prompt":
                texts = {key: one if isinstance(one, str) else json.dumps(one) for key, one in given.items()}
                return await self._told(PROMPT, lambda client: client.get_prompt(name, texts), timeout_secs)

    async def _told(self, method: str, ask: Callable[[Client], Awaitable[object]], timeout_secs: float) -> ToolAnswer:
        if self.over is not None:
            return ToolAnswer("not_executed", self._gone())
        assert self._lines is not None
        client, answers = self._session.result(), self._lines.answers
        try:
            await self._awaited(ask(client), timeout_secs)
            result = self._result(method)
        except NoAnswerFromServerError as error:
            answer = answers.get(method)
            status = status_of(answer, method, client.protocol_version) if answer else None
            fault = fault_of(status)
            is_neither = error.status == "error" and answer is not None and "error" not in answer
            return ToolAnswer("invalid" if fault or is_neither else error.status, fault or error.why)
        status = status_of(answers[method], method, client.protocol_version)
        fault = fault_of(status)
        return ToolAnswer("invalid" if fault else "error" if status else "ok", fault or _text(result))

    def _result(self, method: str) -> dict[str, Any]:
        """Return the result that the SDK has taken. Raises NoAnswerFromServerError if it is not known."""
        assert self._lines is not None
        answer = self._lines.answers.get(method)
        if answer and "result" in answer:
            result: dict[str, Any] = answer["result"]
            return result
        how = "twice" if answer is not None else "with an id of another type than the request's"
        self.fault = f"the MCP server answered `{method}` {how}"
        raise NoAnswerFromServerError("invalid", self.fault)

    async def _listed(
        self, method: str, key: str, page: Callable[..., Awaitable[PaginatedResult]]
    ) -> list[dict[str, Any]]:
        """Return all pages of a list, as the server wrote them, until it is too long or comes to a page again."""
        found: list[dict[str, Any]] = []
        cursors: list[str | None] = [None]
        over = time.monotonic() + START_SECS
        while True:
            answer = await self._awaited(page(cursor=cursors[-1]), START_SECS)
            found += self._result(method)[key]
            if not answer.next_cursor:
                return found
            is_long = len(cursors) == MAX_PAGES or len(found) > MAX_LISTED or time.monotonic() > over
            if is_long or answer.next_cursor in cursors:
                self.refused[f"`{method}` has no end"] = ""
                return found
            cursors.append(answer.next_cursor)

    async def _awaited(self, waiting: Awaitable[T], timeout_secs: float) -> T:
        """Return the SDK's answer. Raises NoAnswerFromServerError with the reason if there is none."""
        from mcp.shared.exceptions import MCPError  # 740 ms
        from mcp_types import CONNECTION_CLOSED
        from pydantic import ValidationError

        limit = asyncio.timeout(timeout_secs)
        try:
            async with limit:
                return await waiting
        except TimeoutError:
            if not limit.expired():
                raise
            raise NoAnswerFromServerError("timeout", f"no answer within {timeout_secs:g} s") from None
        except MCPError as error:
            if error.error.code != CONNECTION_CLOSED:
                raise NoAnswerFromServerError("error", _string(error.error.message)) from None
        except ValidationError as error:
            asked = self._lines.method if self._lines else ""
            why = f"clients refuse its answer to `{asked}`, in which {_first_fault(error)}"
            raise NoAnswerFromServerError("invalid", why) from None
        except Exception as error:  # the SDK reports what it does not accept
            raise NoAnswerFromServerError("invalid", _string(str(error))) from None
        if self._server is None:
            raise NoAnswerFromServerError("unfinished", "the server closed the connection")
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


def _first_fault(error: Any) -> str:
    """Return the place and the reason of the first fault in an answer."""
    first = error.errors(include_url=False, include_input=False)[0]
    return f"`{'.'.join(map(str, first['loc']))}` is wrong: {first['msg']}"


def _tool(given: Mapping[str, Any]) -> Tool:
    """Return a tool as the server describes it; missing texts are empty."""
    hints = given.get("annotations")
    return Tool(
        _string(given.get("name")),
        _string(given.get("description")),
        given.get("inputSchema", ANYTHING),
        hints if isinstance(hints, dict) else {},
    )


def _text(result: Mapping[str, Any]) -> str:
    """Return what agents are shown of a result: its structured content if it has some, else its text."""
    if "structuredContent" in result:
        return _string(json.dumps(result["structuredContent"], ensure_ascii=False))
    messages = result.get("messages")
    if isinstance(messages, list):
        return "\n".join(f"{_string(one.get('role'))}: {_part(one.get('content') or {})}" for one in messages)
    return "\n".join(_part(part) for part in result.get("content", result.get("contents", [])))


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
