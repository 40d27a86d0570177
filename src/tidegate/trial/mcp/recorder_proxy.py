"""Records an MCP server: runs between an agent and the real server, and records each tool call.

`recording.install` writes it behind `answer_status.py` into one script, so it imports nothing from Tidegate. The
transport is stdio: one JSON-RPC message per line, which is forwarded unchanged. Calls are recorded in the format of
`recorder.c`. The arguments are the tool's name and, if there are any, the tool's arguments as JSON. The status is 0,
1 for an error, 2 if the agent gave up the call, or 3 and more for an answer that clients refuse. `ready` is recorded
when the agent continues after the server's answer to `initialize`, which shows that it accepted the answer.

With `--check` it acts as a client: it starts the server, prints the names of its tools, and ends.
"""

import hashlib
import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from typing import IO, TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tidegate.trial.mcp.answer_status import status_of

PROTOCOL = "2025-06-18"  # of Tidegate's clients; a server answers with the version that it supports
CALL, INITIALIZE, GIVEN_UP = "tools/call", "initialize", "notifications/cancelled"
GIVEN_UP_STATUS = 2  # of a call
PIPE_BUF = 4096
PIECE = 3840  # bytes of an entry in one piece; the rest of PIPE_BUF is for its header
TOOLS_MARK = "descriptions of the tools: sha256:"  # as in tidegate.model.session
REQUIRED = (("protocolVersion", str), ("capabilities", dict), ("serverInfo", dict))  # in an answer to `initialize`


def main(command: str, environment: dict[str, str], folder: str, record: str) -> int:
    """Start the server and return its exit status, at most 127."""
    server = subprocess.Popen(
        ["/bin/sh", "-c", command], cwd=folder, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    signal.signal(signal.SIGTERM, lambda *_: server.terminate())
    if sys.argv[1:] == ["--check"]:
        return check(server, folder)
    notes = Notes(record)
    upward = threading.Thread(target=pass_up, args=(sys.stdin.buffer, server.stdin, notes), daemon=True)
    upward.start()
    assert server.stdout is not None
    for line in server.stdout:
        notes.answered(line)
        sys.stdout.buffer.write(line)
        sys.stdout.buffer.flush()
    return min(abs(server.wait()), 127)


def pass_up(source: IO[bytes], server: IO[bytes], notes: "Notes") -> None:
    """Forward the agent's messages until it closes its output; then close the server's input."""
    try:
        for line in source:
            notes.asked(line)
            server.write(line)
            server.flush()
        server.close()
    except OSError:
        pass  # the server has ended; the agent sees the end of its output


class Notes:
    """Records the conversation. Both directions use it, each in its own thread."""

    def __init__(self, record: str) -> None:
        self.record = record
        self.calls: dict[str, tuple[bytes, int]] = {}  # open calls: the recorded id, and the start in ns
        self.openings: set[str] = set()
        self.greeted = self.ready = False
        self.number = 0
        self.lock = threading.Lock()

    def asked(self, line: bytes) -> None:
        """Record the calls in a line from the agent."""
        for message in messages(line):
            key = json.dumps(message.get("id"))
            if message.get("method") == INITIALIZE:
                self.openings.add(key)
            elif self.greeted and not self.ready:
                self.ready = True
                self.note(b"tidegate-ready", b"")
            if message.get("method") == CALL and "id" in message:
                with self.lock:
                    self.begin(key, message.get("params"))
            if message.get("method") == GIVEN_UP and isinstance(message.get("params"), dict):
                self.end(json.dumps(message["params"].get("requestId")), GIVEN_UP_STATUS)

    def begin(self, key: str, params: Any) -> None:
        """Record the start of a call."""
        given = params if isinstance(params, dict) else {}
        argv = [str(given.get("name", ""))]
        if given.get("arguments"):
            argv.append(json.dumps(given["arguments"], ensure_ascii=False, sort_keys=True))
        self.number += 1
        name = b"%d-%d" % (os.getpid(), self.number)
        listed = b"".join(word.replace("\0", "\\0").encode(errors="backslashreplace") + b"\0" for word in argv)
        self.calls[key] = name, time.monotonic_ns()
        self.note(b"tidegate-call", name, b"%d" % time.time_ns(), b"", b"%d\0%s" % (len(listed), listed))

    def answered(self, line: bytes) -> None:
        """Record the ends of calls in a line from the server."""
        for message in messages(line):
            if "method" in message:
                continue  # the server's own request
            key = json.dumps(message.get("id"))
            result = message.get("result")
            if key in self.openings and isinstance(result, dict):
                self.openings.discard(key)
                self.greeted = True
            self.end(key, status_of(message))

    def end(self, key: str, status: int) -> None:
        """Record the end of a call, unless it has already ended."""
        with self.lock:
            call = self.calls.pop(key, None)
        if call is not None:
            self.note(b"tidegate-end", call[0], b"%d" % (time.monotonic_ns() - call[1]), b"%d\0" % status)

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


def messages(line: bytes) -> Iterator[dict[str, Any]]:
    """Yield the JSON-RPC messages in a line: one, or those of a batch."""
    try:
        data = json.loads(line)
    except (ValueError, RecursionError):
        return
    for message in data if isinstance(data, list) else [data]:
        if isinstance(message, dict):
            yield message


def check(server: "subprocess.Popen[bytes]", folder: str) -> int:
    """Open a session, print the names of the server's tools, one per line, and end it. Return 1 on failure.

    The last line is a hash of all that clients are given of them, without the name of the workspace.
    """
    me = {"protocolVersion": PROTOCOL, "capabilities": {}, "clientInfo": {"name": "tidegate", "version": "1"}}
    hello = ask(server, 1, INITIALIZE, me)
    if hello is None:
        return stopped(server, "it did not answer `initialize`")
    for key, kind in REQUIRED:
        if not isinstance(hello.get(key), kind):
            return stopped(server, f"its answer to `initialize` has no `{key}`, without which clients refuse it")
    say(server, {"jsonrpc": "2.0", "method": "notifications/initialized"})
    answer = ask(server, 2, "tools/list", {})
    tools = answer.get("tools") if answer else None
    if not isinstance(tools, list) or not tools:
        return stopped(server, "it has no tools")
    if (why := refused(tools)) is not None:
        return stopped(server, why)
    print("\n".join(tool["name"] for tool in tools))
    given = json.dumps([tools, hello.get("instructions")], sort_keys=True).replace(folder, ".")
    print(TOOLS_MARK + hashlib.sha256(given.encode()).hexdigest(), flush=True)
    stopped(server, "")
    return 0


def refused(tools: list[Any]) -> str | None:
    """Return why clients would reject the whole list: the protocol requires a name and a schema for each tool."""
    for tool in tools:
        if not isinstance(tool, dict) or not isinstance(tool.get("name"), str):
            return "one of its tools has no name, so that clients refuse them all"
        if not isinstance(tool.get("inputSchema"), dict):
            return f"its tool `{tool['name']}` has no `inputSchema`, so that clients refuse them all"
    return None


def say(server: "subprocess.Popen[bytes]", message: dict[str, Any]) -> None:
    """Send one message; ignore the error if the server has ended."""
    assert server.stdin is not None
    try:
        server.stdin.write(json.dumps(message).encode() + b"\n")
        server.stdin.flush()
    except OSError:
        pass


def ask(server: "subprocess.Popen[bytes]", number: int, method: str, params: dict[str, Any]) -> dict[str, Any] | None:
    """Return the server's result; None if it refuses or ends first. Requests from the server are not answered."""
    say(server, {"jsonrpc": "2.0", "id": number, "method": method, "params": params})
    assert server.stdout is not None
    for line in server.stdout:
        for message in messages(line):
            if message.get("id") == number and "method" not in message:
                result = message.get("result")
                return result if isinstance(result, dict) else None
    return None


def stopped(server: "subprocess.Popen[bytes]", why: str) -> int:
    """Stop the server, print what was wrong with it, and return 1."""
    assert server.stdin is not None
    server.stdin.close()
    try:
        status = server.wait(2)
    except subprocess.TimeoutExpired:
        server.kill()
        status = server.wait()
    if why:
        print(f"{why} (exit {status})" if status else why, file=sys.stderr)
    return 1
