"""A scripted model on loopback, in the wire formats of the agents' providers.

Anthropic's Messages, OpenAI's Responses and Chat Completions, and Gemini's generateContent. Which step is played is
told by the request alone, by the number of tool results in the conversation: so retries and parallel trials play what
is theirs.
A request that offers no shell (a title, a summary) gets a short text. Faults come before any step, one per request.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Lock, Thread
from typing import Any, NamedTuple

Json = dict[str, Any]
Stream = list[tuple[str | None, Json]]

# Every agent's shell: its name, and the argument that holds the command line.
SHELLS = {
    "Bash": "command",
    "bash": "command",
    "exec_command": "cmd",
    "shell_command": "command",
    "run_shell_command": "command",
}
SIDE_ANSWER = "a short answer"


class ToolUse(NamedTuple):
    """A call of an MCP server's tool, `SERVER/TOOL`; every agent has its own way to put the one before the other."""

    tool: str
    arguments: Json


class Step(NamedTuple):
    """One turn of the model: what it says, and the commands or tools that it runs; none is its last turn."""

    text: str
    commands: tuple[str | ToolUse, ...] = ()
    stop: str | None = None  # a stop reason of Anthropic's, instead of the usual one


HALF = 1


class Fault(NamedTuple):
    """What one request gets instead of an answer; 0 breaks the connection off, HALF in the middle of one."""

    status: int
    kind: str = "api_error"
    headers: dict[str, str] = {}
    message: str = ""


class Turn(NamedTuple):
    """The step that a request is to be answered with, with the tool calls that it makes, by the name of the shell."""

    text: str
    calls: list[tuple[str, str, Json]]  # id, tool, arguments
    stop: str | None
    number: int


class ModelServer(ThreadingHTTPServer):
    """The server; `requests` are the bodies that it was sent, in order, with their paths and headers."""

    request_queue_size = 128  # as a provider has: with five, requests at once are reset on a busy machine
    daemon_threads = True

    def __init__(self, steps: list[Step], faults: list[Fault] | None = None) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.steps = steps
        self.scripts: dict[str, list[Step]] = {}  # the steps of requests that have a text, instead of `steps`
        self.faults = list(faults or [])
        self.judge: Callable[[Json], Step | Fault] | None = None  # answers requests with a form (structured output)
        self.refused: tuple[str, Fault] | None = None  # every request with this text gets that fault
        self.limit: Callable[[], Fault | None] | None = None  # what a request gets that is one too many
        self.requests: list[tuple[str, Json, dict[str, str]]] = []
        self.lock = Lock()

    @property
    def url(self) -> str:
        """Where it listens."""
        return f"http://127.0.0.1:{self.server_port}"

    def turn(self, body: Json, tools: list[str], results: int) -> Turn:
        """The step after that many tool results."""
        asked = json.dumps(body) if self.scripts else ""
        steps = next((steps for text, steps in self.scripts.items() if text in asked), self.steps)
        shell = next((name for name in tools if name in SHELLS), None)
        if shell is None:
            return Turn(SIDE_ANSWER, [], None, 0)
        done = 0
        for step in steps:
            if done >= results:
                calls = [
                    (f"call_{done + place}", *_asked(line, shell, tools)) for place, line in enumerate(step.commands)
                ]
                return Turn(step.text, calls, step.stop, done)
            done += len(step.commands)
        return Turn("done", [], None, done)


def _asked(line: str | ToolUse, shell: str, tools: list[str]) -> tuple[str, Json]:
    """The tool that is called, by the name that the agent has given it, and its arguments."""
    if isinstance(line, ToolUse):
        server, _, tool = line.tool.partition("/")
        # Claude Code offers such tools only to a model that has searched for them; they can be called all the same.
        named = (name for name in tools if server in name and name.endswith(tool))
        return next(named, f"mcp__{server}__{tool}"), line.arguments
    return shell, {SHELLS[shell]: line, **_described(shell)}


def _described(shell: str) -> Json:
    return {"description": "what the script says"} if shell in ("Bash", "bash", "run_shell_command") else {}


@contextmanager
def serving(steps: list[Step], faults: list[Fault] | None = None) -> Iterator[ModelServer]:
    """The server, running in a thread."""
    with ModelServer(steps, faults) as server:
        thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
        thread.start()
        try:
            yield server
        finally:
            server.shutdown()
            thread.join()


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: ModelServer

    def log_message(self, *_: object) -> None:
        """Nothing on stderr."""

    def do_HEAD(self) -> None:
        self._answer({}, 200)

    def do_GET(self) -> None:
        self._answer({"data": [], "models": [], "has_more": False}, 200)

    def do_POST(self) -> None:
        raw = self._body()
        body: Json = json.loads(raw or b"{}")
        path = self.path.partition("?")[0]
        with self.server.lock:
            self.server.requests.append((path, body, {name.lower(): value for name, value in self.headers.items()}))
            fault = self.server.faults.pop(0) if self.server.faults else None
            if fault is None and self.server.limit is not None:
                fault = self.server.limit()
        said = self.server.judge(body) if self.server.judge and has_form(body) else None
        fault = said if isinstance(said, Fault) else fault
        if self.server.refused and self.server.refused[0].encode() in raw:
            fault = self.server.refused[1]
        if fault is not None:
            self._fail(fault)
        elif path.endswith(("/count_tokens", ":countTokens")):
            self._answer({"input_tokens": 1, "totalTokens": 1}, 200)
        elif (wire := _wire(path)) is not None:
            judged = said if isinstance(said, Step) else None
            streamed = "stream" in path or bool(body.get("stream"))
            self._play(wire(self.server, body, judged), streamed)
        else:
            self._answer({"error": {"type": "not_found_error", "message": path}}, 404)

    def _body(self) -> bytes:
        if self.headers.get("transfer-encoding", "").lower() != "chunked":
            return self.rfile.read(int(self.headers.get("content-length") or 0))
        parts = []
        while size := int(self.rfile.readline().split(b";")[0], 16):
            parts.append(self.rfile.read(size))
            self.rfile.readline()
        self.rfile.readline()
        return b"".join(parts)

    def _fail(self, fault: Fault) -> None:
        if fault.status == 0:
            self.close_connection = True
            self.connection.shutdown(2)
            return
        if fault.status == HALF:
            self.close_connection = True
            self.wfile.write(
                b'HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 999\r\n\r\n{"id": "ms'
            )
            return
        error = {"type": "error", "error": {"type": fault.kind, "message": fault.message or f"scripted {fault.status}"}}
        self._answer(error, fault.status, fault.headers)

    def _play(self, answer: tuple[Json, Stream], streamed: bool) -> None:
        whole, stream = answer
        if not streamed:
            self._answer(whole, 200)
            return
        self.send_response(200)
        self.send_header("content-type", "text/event-stream")
        self.send_header("connection", "close")
        self.end_headers()
        for name, data in stream:
            head = f"event: {name}\n" if name else ""
            self.wfile.write(f"{head}data: {json.dumps(data)}\n\n".encode())
        self.close_connection = True

    def _answer(self, data: Json, status: int, headers: dict[str, str] | None = None) -> None:
        body = json.dumps(data).encode()
        self.send_response(status)
        for name, value in {"content-type": "application/json", **(headers or {})}.items():
            self.send_header(name, value)
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)


def has_form(body: Json) -> bool:
    """Whether the request asks for structured output, as judges' do."""
    config = body.get("generationConfig", {})
    return "output_config" in body or "response_format" in body or "text" in body or "responseJsonSchema" in config


def _wire(path: str) -> Callable[[ModelServer, Json, Step | None], tuple[Json, Stream]] | None:
    """What answers requests to that path."""
    known = {"/messages": messages, "/responses": responses, "/chat/completions": chat, "generateContent": gemini}
    return next((wire for end, wire in known.items() if path.lower().endswith(end.lower())), None)


def _judged(turn: Turn, judged: Step | None) -> Turn:
    return turn if judged is None else Turn(judged.text, [], judged.stop, 0)


def messages(server: ModelServer, body: Json, judged: Step | None = None) -> tuple[Json, Stream]:
    """Anthropic's Messages."""
    parts = [
        part for message in body["messages"] if isinstance(message["content"], list) for part in message["content"]
    ]
    results = sum(part.get("type") == "tool_result" for part in parts)
    turn = _judged(server.turn(body, [tool.get("name", "") for tool in body.get("tools", [])], results), judged)
    blocks: list[Json] = [{"type": "text", "text": turn.text}] if turn.text else []
    blocks += [
        {"type": "tool_use", "id": f"tool{id_}", "name": tool, "input": given} for id_, tool, given in turn.calls
    ]
    usage = {
        "input_tokens": 100,
        "cache_creation_input_tokens": 0 if results else 50,
        "cache_read_input_tokens": 50 if results else 0,
        "output_tokens": 20,
    }
    whole: Json = {"id": f"msg_{turn.number}", "type": "message", "role": "assistant", "model": body["model"]}
    whole |= {"content": blocks, "stop_sequence": None, "usage": usage}
    whole["stop_reason"] = turn.stop or ("tool_use" if turn.calls else "end_turn")
    start = whole | {"content": [], "stop_reason": None, "usage": usage | {"output_tokens": 1}}
    stream: Stream = [("message_start", {"message": start})]
    for index, block in enumerate(blocks):
        said = block["type"] == "text"
        empty = {"type": "text", "text": ""} if said else block | {"input": {}}
        delta = {"type": "text_delta", "text": block["text"]} if said else {"type": "input_json_delta"}
        if not said:
            delta["partial_json"] = json.dumps(block["input"])
        stream.append(("content_block_start", {"index": index, "content_block": empty}))
        stream.append(("content_block_delta", {"index": index, "delta": delta}))
        stream.append(("content_block_stop", {"index": index}))
    last = {"delta": {"stop_reason": whole["stop_reason"], "stop_sequence": None}, "usage": usage}
    stream += [("message_delta", last), ("message_stop", {})]
    return whole, [(name, {"type": name, **data}) for name, data in stream]


def responses(server: ModelServer, body: Json, judged: Step | None = None) -> tuple[Json, Stream]:
    """OpenAI's Responses."""
    results = sum(str(item.get("type")).endswith("call_output") for item in body.get("input", []))
    turn = _judged(server.turn(body, list(_response_tools(body.get("tools", []))), results), judged)
    said = [{"type": "output_text", "text": turn.text, "annotations": []}]
    items: list[Json] = [{"type": "message", "id": "m", "role": "assistant", "status": "completed", "content": said}]
    items += [
        {"type": "function_call", "id": f"f{id_}", "call_id": id_, "arguments": json.dumps(given), **_named(tool)}
        | {"status": "completed"}
        for id_, tool, given in turn.calls
    ]
    usage = {"input_tokens": 100, "input_tokens_details": {"cached_tokens": 10}, "output_tokens": 20}
    usage |= {"output_tokens_details": {"reasoning_tokens": 4}, "total_tokens": 120}
    whole: Json = {
        "id": f"resp_{turn.number}",
        "object": "response",
        "model": body["model"],
        "status": turn.stop or "completed",
        "output": items,
        "usage": usage,
    }
    stream: Stream = [("response.created", {"response": whole | {"status": "in_progress", "output": []}})]
    for index, item in enumerate(items):
        stream.append(("response.output_item.added", {"output_index": index, "item": item}))
        if item["type"] == "message":
            place = {"item_id": item["id"], "output_index": index, "content_index": 0}
            stream.append(("response.output_text.delta", {**place, "delta": turn.text}))
        stream.append(("response.output_item.done", {"output_index": index, "item": item}))
    stream.append(("response.completed", {"response": whole}))
    return whole, [(name, {"type": name, **data}) for name, data in stream]


def chat(server: ModelServer, body: Json, judged: Step | None = None) -> tuple[Json, Stream]:
    """OpenAI's Chat Completions, text only."""
    turn = _judged(server.turn(body, [], 0), judged)
    usage = {"prompt_tokens": 100, "prompt_tokens_details": {"cached_tokens": 10}, "completion_tokens": 20}
    whole: Json = {"id": "chat", "object": "chat.completion", "model": body["model"], "usage": usage}
    message = {"role": "assistant", "content": turn.text}
    whole["choices"] = [{"index": 0, "message": message, "finish_reason": turn.stop or "stop"}]
    parts = [{"delta": message}, {"delta": {}, "finish_reason": turn.stop or "stop"}]
    stream: Stream = [(None, {"object": "chat.completion.chunk", "choices": [part]}) for part in parts]
    return whole, [*stream, (None, {"choices": [], "usage": usage})]


def _response_tools(tools: list[Json]) -> Iterator[str]:
    """The tools' names; those of a namespace, such as an MCP server's, behind it."""
    for tool in tools:
        if tool.get("type") == "namespace":
            yield from (f"{tool['name']}::{inner['name']}" for inner in tool.get("tools", []))
        else:
            yield tool.get("name") or tool["type"]


def _named(tool: str) -> Json:
    namespace, _, name = tool.rpartition("::")
    return {"name": name, "namespace": namespace} if namespace else {"name": name}


def gemini(server: ModelServer, body: Json, judged: Step | None = None) -> tuple[Json, Stream]:
    """Gemini's generateContent, and its streamed form."""
    results = sum(
        "functionResponse" in part for content in body.get("contents", []) for part in content.get("parts", [])
    )
    tools = [f["name"] for tool in body.get("tools", []) for f in tool.get("functionDeclarations", [])]
    turn = _judged(server.turn(body, tools, results), judged)
    parts: list[Json] = [{"text": turn.text}]
    parts += [{"functionCall": {"id": id_, "name": tool, "args": given}} for id_, tool, given in turn.calls]
    content = {"role": "model", "parts": parts}
    whole: Json = {"candidates": [{"index": 0, "content": content, "finishReason": turn.stop or "STOP"}]}
    whole["usageMetadata"] = {"promptTokenCount": 100, "candidatesTokenCount": 20, "totalTokenCount": 120}
    return whole, [(None, whole)]
