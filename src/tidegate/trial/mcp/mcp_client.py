"""The client of the MCP server under test: the official SDK's, behind the supervisor that runs the server.

The SDK takes half a second to import, so it is imported where a client is opened.
"""

from __future__ import annotations

import asyncio
import glob
import json
import re
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from fnmatch import fnmatchcase
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeVar
from urllib.parse import quote

from tidegate.agents import tool_list
from tidegate.model.agent import ServerTools, Tool, ToolAnswer
from tidegate.model.event import CallStatus, CommandResult
from tidegate.model.probe import ServerPart
from tidegate.model.target import McpServer
from tidegate.text.shorten import excerpt
from tidegate.trial.mcp.answer_status import CALL, PROMPT, READ, fault_of, is_loose, status_of
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
LISTS = {  # by the key in the answer: the request, and the SDK's method
    "tools": ("tools/list", "list_tools"),
    "resources": ("resources/list", "list_resources"),
    "resourceTemplates": ("resources/templates/list", "list_resource_templates"),
    "prompts": ("prompts/list", "list_prompts"),
}
LISTED_IN = {"tool": ("tools",), "resource": ("resources", "resourceTemplates"), "prompt": ("prompts",)}
BETWEEN = "\f\n"  # two blocks of an answer: not in JSON, which has to be in one of them
ANYTHING = {"type": "object"}  # the input schema of a tool without one
Mode = Literal["auto", "legacy"]  # of the SDK: with `server/discover` first, or with `initialize` only
MODES: tuple[Mode, ...] = ("auto", "legacy")  # as they are tried, with the capabilities of a client that only calls
AS_AGENTS: tuple[Mode, ...] = ("legacy", "auto")  # as most agents' programs open a session, with their capabilities
FIRST = {"auto": "server/discover", "legacy": "initialize"}  # requests


class NoAnswerFromServerError(Exception):
    """A request got no result; carries the status of the call and the reason."""

    def __init__(self, status: CallStatus, why: str) -> None:
        super().__init__(why)
        self.status = status
        self.why = why


@asynccontextmanager
async def connected(
    supervisor: Supervisor,
    server: Command,
    folder: Path,
    start_secs: float = START_SECS,
    modes: Sequence[Mode] = MODES,
) -> AsyncIterator[McpClient]:
    """Yield a client with an open session; the server runs beside the supervisor's commands until the block ends.

    A server that opens no session in the first mode is started again for the other, and the client notes this.
    Raises NoAnswerFromServerError if no session can be opened.
    """
    folder.mkdir()
    line_bytes = int(server.limits.output_mb * MEGABYTE)
    async with supervisor.beside() as other:
        for mode in modes:
            async with (
                serving(other, server, folder / mode, line_bytes) as process,
                _session(McpClient(process), mode, modes, start_secs) as client,
            ):
                if client is not None:
                    yield client
                    return


@asynccontextmanager
async def connected_at(
    server: McpServer, socket: Path, start_secs: float = START_SECS, modes: Sequence[Mode] = MODES
) -> AsyncIterator[McpClient]:
    """Yield a client with an open session, of a server with a URL, which the recorder serves at this Unix socket.

    It is also asked in the first mode, and then in the other.
    """
    for mode in modes:
        async with _session(McpClient(None), mode, modes, start_secs, (server, socket)) as client:
            if client is not None:
                yield client
                return


@asynccontextmanager
async def _session(
    client: McpClient,
    mode: Mode,
    modes: Sequence[Mode],
    start_secs: float,
    at: tuple[McpServer, Path] | None = None,
) -> AsyncIterator[McpClient | None]:
    """Yield the client with an open session; None if the server ended, or answered with an error, and another mode is
    left.
    """
    client.refused |= {f"it opens no session that begins with `{FIRST[one]}`": "" for one in modes[: modes.index(mode)]}
    running = asyncio.ensure_future(client.keep_open(mode, at, is_agent=modes is AS_AGENTS))
    try:
        try:
            await client.opened(start_secs)
        except NoAnswerFromServerError as error:
            if mode == modes[-1] or error.status == "timeout":
                raise
        yield client if client.is_open else None
    finally:
        client.closing.set()
        if not client.is_open:
            running.cancel()
        await asyncio.gather(running, return_exceptions=True)


class McpClient:
    """A session with a server. `over`: how the server ended, once that was noticed; `fault`: of an answer, if any.

    `refused`: why agents cannot use what the server lists, see `TrialResult.faults`, without what `faults` adds.
    """

    def __init__(self, server: ServerProcess | None) -> None:
        self.over: CommandResult | None = None
        self.fault = ""
        self.refused: dict[str, str] = {}
        self.closing = asyncio.Event()
        self._server = server
        self._session: asyncio.Future[Client] = asyncio.get_running_loop().create_future()
        self._lines: Answers | None = None
        self._lists: dict[str, list[dict[str, Any]]] = {}

    @property
    def is_open(self) -> bool:
        """True once a session was opened."""
        return self._session.done() and not self._session.cancelled() and self._session.exception() is None

    async def keep_open(self, mode: Mode, at: tuple[McpServer, Path] | None = None, *, is_agent: bool = False) -> None:
        """Open the session and keep it until `closing` is set; the SDK has to enter and leave it in one task.

        `at`: a server with a URL, and its Unix socket. `is_agent`: with the capabilities of agents' programs.
        """
        from mcp import Client  # 610 ms
        from mcp_types import Implementation

        from tidegate.trial.mcp.sdk_transport import AGENT, Answers, lines_of, requests_to

        answers = self._lines = Answers()
        try:
            me = Implementation(name="tidegate", version="1")
            carrier = requests_to(answers, *at) if at else lines_of(answers, self._server)
            able = AGENT if is_agent else {}
            async with Client(carrier, mode=mode, cache=None, client_info=me, **able) as client:
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
        return ServerTools(tuple(map(_tool, await self._listed("tools"))), _string(client.instructions))

    async def interface(self) -> dict[str, Any]:
        """Return all that the server offers, as it describes it. Raises NoAnswerFromServerError."""
        client = self._session.result()
        has = client.server_capabilities
        found: dict[str, Any] = {}
        for key, (method, _) in LISTS.items():
            try:
                found[key] = await self._listed(key)
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

    def faults(self) -> dict[str, str]:
        """Return why agents cannot use what the server has listed so far."""
        found = tool_list.refused(self._lists.get("tools", ())) | self.refused
        if self._lines and is_loose(self._lines.answers.get("initialize", {}).get("result")):
            found["clients refuse the answer to `initialize`"] = ""
        if self._lists.get("tools") and self._session.result().server_capabilities.tools is None:
            found["its capabilities do not have `tools`"] = ""
        return found

    async def lists(self, what: ServerPart, name: str) -> bool:
        """Return True if the server lists the tool, resource or prompt, by now."""
        assert self._lines is not None
        for key in LISTED_IN[what]:
            if key in self._lines.changed:
                self._lines.changed.discard(key)
                self._lists.pop(key, None)
            if self._listing(what, name) is None:
                with suppress(NoAnswerFromServerError):
                    await self._listed(key)
        return self._listing(what, name) is not None

    def _listing(self, what: ServerPart, name: str) -> dict[str, Any] | None:
        """Return how the server lists it; None if it does not."""
        listed = [one for key in LISTED_IN[what] for one in self._lists.get(key, ())]
        if what == "resource":
            return next((one for one in listed if one.get("uri") == name or _fits(one.get("uriTemplate"), name)), None)
        return next((one for one in listed if one.get("name") == name), None)

    def compare(self, what: ServerPart, name: str, given: Mapping[str, Any]) -> None:
        """Note it in `refused` if a client would not ask for this: it is not listed, or not with this input."""
        listing = self._listing(what, name)
        if listing is None:
            self.refused[f"the server does not list the {what} `{name}`"] = ""
            return
        schema = _schema_of_prompt(listing) if what == "prompt" else listing.get("inputSchema", ANYTHING)
        if what == "tool" and (fault := tool_list.schema_fault(schema)):  # base may have it in another tool
            self.refused[f"the input schema of `{name}` {fault}"] = ""
        if what != "resource" and (fault := tool_list.input_fault(schema, given)):
            sent = excerpt(json.dumps(given, sort_keys=True))
            self.refused[f"what lists the {what} `{name}` does not allow the input {sent}"] = excerpt(fault)

    async def ask(self, what: ServerPart, name: str, given: Mapping[str, Any], timeout_secs: float) -> ToolAnswer:
        """Call a tool, read a resource or get a prompt, and return the answer as text.

        Errors are also returned as an answer, with a status: `invalid` if clients refuse what the server answered.
        """
        match what:
            case "tool":
                answer = await self._told(CALL, lambda client: client.call_tool(name, dict(given)), timeout_secs)
                if self._lines and _has_no_text(self._lines.answers.get(CALL, {}).get("result")):
                    self.refused[f"the answer of `{name}` has no text beside its other content"] = ""
                return answer
            case "resource":
                answer = await self._told(READ, lambda client: client.read_resource(name), timeout_secs)
                if self._lines and is_of_others(self._lines.answers.get(READ, {}).get("result"), name):
                    self.refused[f"the answer for `{name}` is about another resource"] = ""
                return answer
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
        return ToolAnswer("invalid" if fault else "error" if status else "ok", fault or _text(method, result))

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

    async def _listed(self, key: str) -> list[dict[str, Any]]:
        """Return all pages of a list, as the server wrote them, until it is too long or comes to a page again.

        It is empty if the server's capabilities do not have it; tools are still listed.
        """
        client, (method, page) = self._session.result(), LISTS[key]
        has = client.server_capabilities
        if not (key == "tools" or (has.prompts if key == "prompts" else has.resources)):
            return []
        found = self._lists[key] = await self._pages(method, key, getattr(client, page))
        return found

    async def _pages(
        self, method: str, key: str, page: Callable[..., Awaitable[PaginatedResult]]
    ) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = []
        cursors: list[str | None] = [None]
        over = time.monotonic() + START_SECS
        while True:
            answer = await self._awaited(page(cursor=cursors[-1]), START_SECS)
            result = self._result(method)
            if is_loose(result) or (self._lines and "error" in self._lines.answers[method]):
                self.refused[f"some clients refuse the answer to `{method}`"] = ""
            found += result[key]
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


def is_of_others(result: object, uri: str) -> bool:
    """Return True if contents of the answer have another address. A folder may answer with what is in it."""
    contents = result.get("contents") if isinstance(result, dict) else None
    uris = [one.get("uri") for one in contents if isinstance(one, dict)] if isinstance(contents, list) else []
    return any(isinstance(one, str) and not one.startswith(uri.rstrip("/")) for one in uris)


def _fits(template: Any, uri: str) -> bool:
    """Return True if the URI may be one of this template: all that is outside of its braces is in it, in order."""
    parts = re.split(r"\{[^{}]*\}", template) if isinstance(template, str) else [""]
    return fnmatchcase(uri, "*".join(map(glob.escape, parts)))


def _schema_of_prompt(listing: Mapping[str, Any]) -> dict[str, Any]:
    """Return the arguments of a prompt as the schema of an input."""
    named = {str(one.get("name")): one for one in listing.get("arguments") or ()}
    required = [name for name, one in named.items() if one.get("required")]
    return {"type": "object", "properties": dict.fromkeys(named, True), "required": required}


def _tool(given: Mapping[str, Any]) -> Tool:
    """Return a tool as the server describes it; missing texts are empty."""
    hints = given.get("annotations")
    return Tool(
        _string(given.get("name")),
        _string(given.get("description")),
        given.get("inputSchema", ANYTHING),
        hints if isinstance(hints, dict) else {},
    )


def _text(method: str, result: Mapping[str, Any]) -> str:
    """Return what agents are shown of a result: its structured content if it has some, else its text.

    Only the fields that the method's result has are read: clients ignore others.
    """
    if method == PROMPT:
        return "\n".join(f"{_string(one.get('role'))}: {_said(one.get('content'))}" for one in result["messages"])
    if method == READ:
        return BETWEEN.join(_part({"type": "resource", "resource": part}) for part in result["contents"])
    if "structuredContent" in result:
        return _string(json.dumps(result["structuredContent"], ensure_ascii=False))
    return BETWEEN.join(map(_part, result["content"]))


def _said(content: Any) -> str:
    """Return the text of a message, in which no line but the first begins as a message does."""
    parts = [part for part in (content if isinstance(content, list) else [content]) if isinstance(part, dict)]
    return re.sub(r"(?m)^(?=(?:user|assistant): )", "  ", BETWEEN.join(map(_part, parts)))


def _has_no_text(result: Any) -> bool:
    """Return True for a result of structured or other content without a text block, which all clients show."""
    if not isinstance(result, dict) or not isinstance(result.get("content"), list):
        return False
    parts = [part for part in result["content"] if isinstance(part, dict)]
    texts = [_string(part.get("text")) for part in parts if part.get("type") == "text"]
    return ("structuredContent" in result or len(texts) < len(parts)) and not "".join(texts).strip()


_OF_URI = ":/?#[]@!$&'()*+,;=%"


def _part(part: Mapping[str, Any]) -> str:
    """Return the text of a content block; for other content, its type and name in brackets."""
    kind, resource = part.get("type"), part.get("resource")
    inner = resource if kind == "resource" and isinstance(resource, dict) else part
    if kind in ("text", "resource") and isinstance(inner.get("text"), str):
        return _string(inner["text"])
    named = map(_string, (part.get("type"), inner.get("mimeType"), inner.get("uri")))
    return f"[{' '.join(quote(one, safe=_OF_URI) for one in named if one)}]"  # no place for a sentence


def _string(given: Any) -> str:
    """Return `given` if it is text, else "". Invalid Unicode (an unpaired surrogate) becomes `?`."""
    return given.encode(errors="replace").decode() if isinstance(given, str) else ""
