"""Records an MCP server on HTTP: starts it, and stands between agents and it, for streamable HTTP and for SSE.

`recording.install` writes it behind `answer_status.py` and `session_notes.py` into one script, so it imports nothing
from Tidegate. Requests and answers are forwarded with the same bodies and headers. As soon as the server listens, it
listens too: at a port, for agents, and at a Unix socket, for Tidegate's own client, which may not share the trial's
network. The first PUT at that socket brings the headers that are added to all requests: files, arguments and variables
of this program would show them to agents.

A server that ends when it is asked for today's version of the protocol is started again, once in a trial. From then on
that request is refused here, and clients go on with an older version.
"""

import http.client
import json
import os
import re
import select
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import suppress
from http.server import BaseHTTPRequestHandler
from io import BufferedIOBase
from itertools import count
from pathlib import Path
from socketserver import ThreadingTCPServer, ThreadingUnixStreamServer
from typing import TYPE_CHECKING, ClassVar
from urllib.parse import SplitResult, parse_qs, urljoin, urlsplit

if TYPE_CHECKING:
    from tidegate.trial.mcp.session_notes import DISCOVER, GIVEN_UP_STATUS, Notes, messages

START_SECS = 30.0  # for the server to listen
OFTEN_SECS = 0.05
ENDING_SECS = 1.0
NOT_KNOWN = "the MCP server ends at this request"
ONE_HOP = frozenset({"connection", "keep-alive", "transfer-encoding", "upgrade", "te", "trailer", "host"})
NOT_PASSED = ONE_HOP | {"content-length", "accept-encoding"}  # what is packed cannot be recorded


def serve(command: str, environment: dict[str, str], folder: str, record: str, at: tuple[str, int, str]) -> int:
    """Start the server and forward requests until it ends; return its exit status, at most 127.

    `command`: empty if the server runs elsewhere. `at`: its address, the port for agents, and the Unix socket.
    """
    url, port, path = at
    Forward.notes, Forward.url = Notes(record), urlsplit(url)
    known_as_old = Path(f"{path}-old")  # made by the first recorder of a trial, for the later ones
    if known_as_old.exists():
        Forward.is_old.set()
    server = started(command, environment, folder)
    ThreadingTCPServer.allow_reuse_address = True
    for listening in (ThreadingTCPServer(("127.0.0.1", port), Forward), ThreadingUnixStreamServer(path, ForwardOwn)):
        listening.daemon_threads = True
        threading.Thread(target=listening.serve_forever, args=(OFTEN_SECS,), daemon=True).start()
    status = server.wait()
    Forward.has_ended.set()
    is_asked = DISCOVER in Forward.notes.methods.values() and not Forward.notes.greeted
    if is_asked and not Forward.is_old.is_set():
        known_as_old.touch()
        server = started(command, environment, folder)
        Forward.is_old.set()
        status = server.wait()
    deadline = time.monotonic() + ENDING_SECS
    while Forward.notes.calls and time.monotonic() < deadline:  # other threads record how open calls end
        time.sleep(OFTEN_SECS)
    return min(abs(status), 127)


def started(command: str, environment: dict[str, str], folder: str) -> "subprocess.Popen[bytes]":
    """Start the server, which ends when this program is asked to; return it once it listens, or has ended."""
    argv = ["/bin/sh", "-c", command] if command else ["sleep", "infinity"]
    server = subprocess.Popen(argv, cwd=folder, env=environment, stdin=subprocess.DEVNULL)
    signal.signal(signal.SIGTERM, lambda *_: server.terminate())
    deadline = time.monotonic() + START_SECS
    while command and server.poll() is None and time.monotonic() < deadline and not listens(Forward.url.netloc):
        time.sleep(OFTEN_SECS)
    return server


def listens(address: str) -> bool:
    """Return True if something accepts connections there."""
    with suppress(OSError):
        connection = http.client.HTTPConnection(address)
        connection.connect()
        connection.close()
        return True
    return False


class Forward(BaseHTTPRequestHandler):
    """Forwards one connection of an agent."""

    protocol_version = "HTTP/1.1"
    notes: ClassVar["Notes"]
    url: ClassVar[SplitResult]  # of the server
    has_ended: ClassVar[threading.Event] = threading.Event()
    is_old: ClassVar[threading.Event] = threading.Event()  # it ended at today's first request, and runs again
    added: ClassVar[dict[str, str]] = {}  # headers, by their names in lower case
    exchanges = count(1)

    def do_POST(self) -> None:
        """Forward a request, and record what it and its answer hold."""
        body = self.body()
        own = self.headers.get("Mcp-Session-Id") or session_in(self.path)
        scope = own or f"exchange {next(self.exchanges)} "
        if self.command == "POST":
            self.notes.asked(body, scope)
        elif self.command == "DELETE":  # before the answer: nothing of the agent may come after it
            self.notes.end_all(scope, GIVEN_UP_STATUS)
        is_first = any(message.get("method") == DISCOVER for message in messages(body))
        try:
            if is_first and self.is_old.is_set():
                self.send_error(400, NOT_KNOWN)
            else:
                self.pass_answer(self.ask(body), scope)
        except OSError:
            if is_first and self.has_ended.wait(ENDING_SECS) and self.is_old.wait(START_SECS):
                self.send_error(400, NOT_KNOWN)
            self.close_connection = True
        if not own:
            self.notes.end_all(scope, GIVEN_UP_STATUS if is_closed(self.connection) else 1)

    do_GET = do_DELETE = do_OPTIONS = do_PUT = do_HEAD = do_POST  # noqa: N815  (names that the base class wants)

    def body(self) -> bytes:
        """Return the body of the request."""
        is_chunked = "chunked" in self.headers.get("Transfer-Encoding", "")
        return b"".join(chunks(self.rfile)) if is_chunked else self.rfile.read(int(self.headers["Content-Length"] or 0))

    def ask(self, body: bytes) -> http.client.HTTPResponse:
        """Return the server's answer; if that redirects to another of its paths, the answer there. Raises OSError if it
        does not listen.
        """
        answer = self.ask_at(self.path, body)
        if answer.status in (307, 308) and (path := self.own_path(answer.headers["Location"] or "")):
            answer.read()
            return self.ask_at(path, body)  # one call: not a failed one, and one more
        return answer

    def own_path(self, location: str) -> str:
        """Return the path of the address that an answer redirects to; '' if that is none, or of another server."""
        try:
            target = urlsplit(urljoin(f"{self.url.scheme}://{self.url.netloc}{self.path}", location))
        except ValueError:
            return ""
        is_own = bool(location) and target[:2] == self.url[:2]
        return target._replace(scheme="", netloc="", fragment="").geturl() if is_own else ""

    def ask_at(self, path: str, body: bytes) -> http.client.HTTPResponse:
        """Return the server's answer at this path. Raises OSError if it does not listen."""
        upstream = connection_to(self.url)
        try:
            upstream.connect()
        except OSError as error:
            print(f"{self.url.geturl()} cannot be reached: {error}", file=sys.stderr, flush=True)
            self.send_error(502, "the MCP server does not listen")
            raise
        upstream.putrequest(self.command, path, skip_host=True, skip_accept_encoding=True)
        upstream.putheader("Host", self.url.netloc)
        passed = [pair for pair in self.headers.items() if pair[0].lower() not in NOT_PASSED | self.added.keys()]
        for name, value in (*passed, *self.added.items()):
            upstream.putheader(name, value)
        if body or self.command == "POST":
            upstream.putheader("Content-Length", str(len(body)))
        upstream.endheaders(body)
        answer = upstream.getresponse()
        if answer.status in (401, 403) or answer.status >= 500:
            print(f"{self.url.geturl()} answered {answer.status} {answer.reason}", file=sys.stderr, flush=True)
        return answer

    def pass_answer(self, answer: http.client.HTTPResponse, scope: str) -> None:
        """Forward the answer: streams as they come, line by line."""
        kind = answer.headers.get_content_type() if answer.headers else ""
        is_packed = answer.headers.get("Content-Encoding", "identity").lower() != "identity"
        is_stream, is_read = kind == "text/event-stream", answer.status == 200 and not is_packed
        body = b"" if is_stream else answer.read()
        self.send_response_only(answer.status, answer.reason)
        for name, value in answer.getheaders():
            if name.lower() not in NOT_PASSED:
                self.send_header(name, value)
        if is_stream:
            self.close_connection = True
            self.send_header("Connection", "close")
        elif answer.status >= 200 and answer.status not in (204, 304):
            self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if not is_stream:
            self.note(body, scope, is_read=is_read and kind == "application/json")
            self.wfile.write(body)
            return
        self.wfile.flush()
        events = Events()
        while piece := answer.read1():
            for event, data in events.take(piece):
                scope = session_in(data.decode(errors="replace")) or scope
                self.note(data, scope, is_read=is_read and event in (b"", b"message"))
            self.wfile.write(piece)
            self.wfile.flush()

    def note(self, data: bytes, scope: str, *, is_read: bool) -> None:
        """Record what the server said, unless the agent no longer listens. Raises OSError then.

        `is_read`: clients read it as an answer.
        """
        if is_closed(self.connection):
            raise ConnectionError
        self.notes.answered(data, scope, is_read=is_read)

    def log_message(self, *_: object) -> None:
        """Print nothing."""


class Events:
    """The events of a stream, as clients read them: https://html.spec.whatwg.org/multipage/server-sent-events.html."""

    def __init__(self) -> None:
        self.rest, self.name, self.data = b"", b"", list[bytes]()
        self.in_line_end = False  # the last piece ended with CR, and LF may follow

    def take(self, piece: bytes) -> Iterator[tuple[bytes, bytes]]:
        """Yield the name and the data of each event that this piece of the stream completes."""
        piece = piece.removeprefix(b"\n") if self.in_line_end else piece
        self.in_line_end = piece.endswith(b"\r")
        *lines, self.rest = re.split(rb"\r\n|\n|\r", self.rest + piece)
        for line in lines:
            field, _, text = line.partition(b":")
            if field == b"data":
                self.data.append(text.removeprefix(b" "))
            elif field == b"event":
                self.name = text.removeprefix(b" ")
            elif not line:
                if self.data:
                    yield self.name, b"\n".join(self.data)
                self.name, self.data = b"", []


class ForwardOwn(Forward):
    """Forwards a connection of Tidegate itself."""

    def do_PUT(self) -> None:
        """Take the headers that are added from now on. Agents could come after Tidegate, and are not heard."""
        given = json.loads(self.body())
        Forward.added = Forward.added or given
        self.send_response_only(204)
        self.end_headers()


def connection_to(url: SplitResult) -> http.client.HTTPConnection:
    """Return a connection to the server; to one elsewhere by the proxy that the trial has, if any."""
    kind = http.client.HTTPSConnection if url.scheme == "https" else http.client.HTTPConnection
    via = os.environ.get("HTTPS_PROXY")
    if via is None or url.hostname in ("127.0.0.1", "localhost"):
        return kind(url.netloc)
    connection = kind(urlsplit(via).netloc)
    connection.set_tunnel(url.netloc)
    return connection


def chunks(source: BufferedIOBase) -> Iterator[bytes]:
    """Yield the chunks of a body that has no length (RFC 9112, 7.1)."""
    while size := int(source.readline().partition(b";")[0], 16):
        yield source.read(size)
        source.readline()
    while source.readline().strip():
        pass  # trailers


def session_in(path: str) -> str:
    """Return the session that the path of a message names, as SSE has it; "" for any other text."""
    if not path.startswith(("/", "http")):
        return ""
    query = parse_qs(urlsplit(path).query)
    return "".join(query.get("session_id", query.get("sessionId", [])))


def is_closed(connection: socket.socket) -> bool:
    """Return True if the other side has closed the connection."""
    with suppress(OSError, ValueError):
        return bool(select.select([connection], [], [], 0)[0]) and connection.recv(1, socket.MSG_PEEK) == b""
    return True
