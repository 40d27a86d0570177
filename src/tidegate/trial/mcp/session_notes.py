"""Records what an agent and an MCP server send each other, whatever carries it and whichever version they speak.

The recorder's proxies contain this file, so it imports nothing from Tidegate. Calls are recorded in the format of
`recorder.c`. The arguments of a tool's call are its name and, if there are any, its arguments as JSON; those of
other requests begin with the method. The status is 0, 1 for an error, 2 if the agent gave up, or 3 and more for an
answer that clients refuse. What the server announces is recorded as a call that succeeded, see NOTICES.

`ready` is recorded once the traffic shows a session: the server answered a request that is not part of the greeting,
or the agent went on after a greeting, which shows that it accepted the answer.
"""

import json
import os
import threading
import time
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from tidegate.trial.mcp.answer_status import CALL, COMPLETE, PROMPT, READ, status_of

INITIALIZE, DISCOVER, GIVEN_UP = "initialize", "server/discover", "notifications/cancelled"
GREETINGS = (INITIALIZE, DISCOVER, "ping", GIVEN_UP)
GIVEN_UP_STATUS = 2  # of a call
CHANGED = ("notifications/tools/list_changed", "notifications/resources/list_changed")
NOTICES = (*CHANGED, "notifications/prompts/list_changed", "tidegate/error-as-text")
VERSION_KEY = "io.modelcontextprotocol/protocolVersion"  # in `_meta` of requests, from 2026-07-28
BATCHES_IN = "2025-03-26"  # the only version with batches
PIPE_BUF = 4096
PIECE = 3840  # bytes of an entry in one piece; the rest of PIPE_BUF is for its header
DOUBLED_KEY = "tidegate/doubled"  # as in answer_status.py; Tidegate itself imports this file alone
Message = dict[str, Any]


class Open(NamedTuple):
    """A call without an end: its recorded id, its start in ns, its method, and the tool, resource or prompt."""

    id: bytes
    start: int
    method: str
    name: str


class Notes:
    """Records a conversation. Both directions use it, each in its own thread.

    One call may take several requests: the server asks for input first, or answers with a task.
    """

    def __init__(self, record: str) -> None:
        self.record = record
        self.calls: dict[str, Open] = {}  # by the id of the request
        self.waiting: dict[str, Open] = {}  # calls that need input, by what the next request repeats
        self.tasks: dict[str, Open] = {}  # calls that go on as a task
        self.of_tasks: dict[str, tuple[str, str]] = {}  # requests about a task: the method, and the task
        self.methods: dict[str, str] = {}  # of requests that are not answered yet
        self.version = ""
        self.greeted = self.ready = False
        self.lock = threading.RLock()

    def asked(self, line: bytes, scope: str = "") -> None:
        """Record the calls in a line from the agent. `scope`: in which the ids of requests are unique."""
        with self.lock:
            for message in messages(line, self.version):
                self.one_asked(message, scope + json.dumps(message.get("id")), scope)

    def one_asked(self, message: Message, key: str, scope: str) -> None:
        """Record one message from the agent."""
        method, params = message.get("method"), as_dict(message.get("params"))
        if not isinstance(method, str):
            return  # an answer to the server's own request
        self.version = str(as_dict(params.get("_meta")).get(VERSION_KEY, self.version))
        if self.greeted and method not in GREETINGS:
            self.open()
        if "id" in message:
            self.methods[key] = method
        if method in (CALL, READ, PROMPT, COMPLETE) and "id" in message:
            self.begin(key, method, params)
        elif method.startswith("tasks/"):
            self.of_tasks[key] = method, str(params.get("taskId"))
        elif method == GIVEN_UP:
            self.end(self.calls.pop(scope + json.dumps(params.get("requestId")), None), GIVEN_UP_STATUS)

    def open(self) -> None:
        """Record that there is a session."""
        if not self.ready:
            self.ready = True
            self.note(b"tidegate-ready", b"")

    def begin(self, key: str, method: str, params: Message) -> None:
        """Record the start of a call, unless it goes on with one that needed input."""
        name = str(params.get("uri" if method == READ else "name", ""))
        if "inputResponses" in params or "requestState" in params:
            earlier = self.waiting.pop(repeated(method, name, params), None)
            if earlier is not None:
                self.calls[key] = earlier
                return
        self.calls[key] = self.started(arguments(method, name, params), method, name)

    def started(self, argv: list[str], method: str, name: str) -> Open:
        """Record a start."""
        name_only_we_know = os.urandom(8).hex().encode()  # or the server could record an end of its own
        call = Open(b"%d-%s" % (os.getpid(), name_only_we_know), time.monotonic_ns(), method, name)
        listed = b"".join(word.replace("\0", "\\0").encode(errors="backslashreplace") + b"\0" for word in argv)
        self.note(b"tidegate-call", call.id, b"%d" % time.time_ns(), b"", b"%d\0%s" % (len(listed), listed))
        return call

    def answered(self, line: bytes, scope: str = "", *, is_read: bool = True) -> None:
        """Record the ends of calls in a line from the server. What clients do not read as an answer is an error."""
        with self.lock:
            for message in messages(line, self.version):
                if "method" not in message:
                    read = message if is_read else {**message, "result": None}
                    self.one_answered(read, scope + json.dumps(message.get("id")))
                elif message["method"] in NOTICES:
                    self.notice([message["method"]])

    def one_answered(self, answer: Message, key: str) -> None:
        """Record one answer of the server."""
        method, result = self.methods.pop(key, ""), answer.get("result")
        if isinstance(result, dict) and method:
            self.greeted = self.greeted or method != "ping"
            if method == INITIALIZE:
                self.version = str(result.get("protocolVersion", ""))
            elif method not in GREETINGS:
                self.open()
        if key in self.of_tasks:
            self.about_task(*self.of_tasks.pop(key), answer)
            return
        call = self.calls.pop(key, None)
        if call is None:
            return
        given = as_dict(result)
        task = given if given.get("resultType") == "task" else as_dict(given.get("task"))
        if given.get("resultType") == "input_required":
            self.waiting[repeated(call.method, call.name, given)] = call
        elif call.method == CALL and "taskId" in task:
            self.tasks[str(task["taskId"])] = call
        else:
            self.result(call, answer)

    def about_task(self, method: str, task: str, answer: Message) -> None:
        """Record the end of the call that goes on as this task, if the answer tells it."""
        result = as_dict(answer.get("result"))
        if method == "tasks/result" and (call := self.tasks.pop(task, None)):
            self.result(call, answer)
        elif method == "tasks/cancel" and "result" in answer:
            self.end(self.tasks.pop(task, None), GIVEN_UP_STATUS)
        elif result.get("status") in ("failed", "cancelled"):
            self.end(self.tasks.pop(task, None), 1)
        elif isinstance(result.get("result"), dict) and (call := self.tasks.pop(task, None)):
            self.result(call, {**answer, "result": result["result"]})

    def result(self, call: Open, answer: Message) -> None:
        """Record the end of a call by its answer, and a result that looks like an error but is none."""
        status = status_of(answer, call.method, self.version)
        self.end(call, status)
        content = as_dict(answer.get("result")).get("content")
        first = content[0].get("text", "") if status == 0 and call.method == CALL and content else ""
        if isinstance(first, str) and first[:6].lower() == "error:":
            self.notice(["tidegate/error-as-text", call.name])

    def notice(self, argv: list[str]) -> None:
        """Record something that is not a call."""
        self.end(self.started(argv, "", ""), 0)

    def end(self, call: Open | None, status: int) -> None:
        """Record the end of a call, if it has not already ended."""
        if call is not None:
            self.note(b"tidegate-end", call.id, b"%d" % (time.monotonic_ns() - call.start), b"%d\0" % status)

    def end_all(self, scope: str, status: int) -> None:
        """Record the end of the calls whose answers can no longer come, since nothing of this scope is left."""
        with self.lock:
            for key in [key for key in self.calls if key.startswith(scope)]:
                self.end(self.calls.pop(key), status)

    def note(self, kind: bytes, call: bytes, *fields: bytes) -> None:
        """Add one entry as `note` of recorder.c does. Does nothing if the record has no reader."""
        entry = b"\0%s\0%s\0%s\n" % (kind, call, b"\0".join(fields))
        flags = os.O_WRONLY | os.O_APPEND | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK
        try:
            file = os.open(self.record, flags)
            os.set_blocking(file, True)
            if len(entry) <= PIPE_BUF:
                os.write(file, entry)
            else:
                for start in range(0, len(entry), PIECE):
                    piece = entry[start : start + PIECE]
                    more = start + PIECE < len(entry)
                    os.write(file, b"\0tidegate-part\0%s\0%d\0%d\0%s" % (call, more, len(piece), piece))
            os.close(file)
        except OSError:
            pass


def arguments(method: str, name: str, params: Message) -> list[str]:
    """Return the arguments by which a call is recorded."""
    if method == COMPLETE:
        ref, argument = as_dict(params.get("ref")), as_dict(params.get("argument"))
        return [method, str(ref.get("uri", ref.get("name", ""))), f"{argument.get('name')}={argument.get('value')}"]
    given = params.get("arguments")
    words = [json.dumps(given, ensure_ascii=False, sort_keys=True)] if given else []
    return [name, *words] if method == CALL else [method, name, *words]


def repeated(method: str, name: str, params: Message) -> str:
    """Return what an answer that needs input and the request that brings it have in common."""
    return json.dumps([method, name, params.get("requestState")])


def as_dict(value: Any) -> Message:
    """Return the value if it is an object, else an empty one."""
    return value if isinstance(value, dict) else {}


def messages(line: bytes, version: str = "") -> Iterator[Message]:
    """Yield the JSON-RPC messages in a line: one, or those of a batch, if the version has them.

    A line that is not plain JSON in UTF-8 has none, for no client reads it. If a key is twice in one object, each
    message has DOUBLED_KEY.
    """
    doubled: Message = {}

    def once(pairs: list[tuple[str, Any]]) -> Message:
        found = dict(pairs)
        if len(found) < len(pairs):
            doubled[DOUBLED_KEY] = True
        return found

    try:
        data = json.loads(line.decode(), parse_constant=int, object_pairs_hook=once)  # `int` raises ValueError for NaN
    except (ValueError, RecursionError):
        return
    for message in data if isinstance(data, list) and version == BATCHES_IN else [data]:
        if isinstance(message, dict):
            yield {**message, **doubled}
