"""Records an MCP server on HTTP: starts it, and stands between agents and it, for streamable HTTP and for SSE.

`recording.install` writes it behind `answer_status.py` and `session_notes.py` into one script, so it imports nothing
from Tidegate. Requests and answers are forwarded with the same bodies and headers. It listens at a port, for agents,
and at a Unix socket, for Tidegate's own client, which may not share the trial's network. Until the server listens,
requests wait.
"""

import http.client
import select
import signal
import socket
import subprocess
import threading
import time
from collections.abc import Iterator
from contextlib import suppress
from http.server import BaseHTTPRequestHandler
from io import BufferedIOBase
from itertools import count
from socketserver import ThreadingTCPServer, ThreadingUnixStreamServer
from typing import TYPE_CHECKING, ClassVar
from urllib.parse import parse_qs, urlsplit

if TYPE_CHECKING:
    from tidegate.trial.mcp.session_notes import GIVEN_UP_STATUS, Notes

START_SECS = 60.0  # for the server to listen
OFTEN_SECS = 0.05
ONE_HOP = frozenset({"connection", "keep-alive", "transfer-encoding", "upgrade", "te", "trailer", "host"})
NOT_PASSED = ONE_HOP | {"content-length", "accept-encoding"}  # what is packed cannot be recorded


def serve(command: str, environment: dict[str, str], folder: str, record: str, at: tuple[str, int, str]) -> int:
    """Start the server and forward requests until it ends; return its exit status, at most 127.

    `at`: the server's address, the port for agents, and the Unix socket.
    """
    server = subprocess.Popen(["/bin/sh", "-c", command], cwd=folder, env=environment, stdin=subprocess.DEVNULL)
    signal.signal(signal.SIGTERM, lambda *_: server.terminate())
    url, port, path = at
    Forward.notes, Forward.address, Forward.server_process = Notes(record), urlsplit(url).netloc, server
    ThreadingTCPServer.allow_reuse_address = True
    for listening in (ThreadingTCPServer(("127.0.0.1", port), Forward), ThreadingUnixStreamServer(path, Forward)):
        listening.daemon_threads = True
        threading.Thread(target=listening.serve_forever, args=(OFTEN_SECS,), daemon=True).start()
    return min(abs(server.wait()), 127)


class Forward(BaseHTTPRequestHandler):
    """Forwards one connection of an agent."""

    protocol_version = "HTTP/1.1"
    notes: ClassVar["Notes"]
    address: ClassVar[str]
    server_process: ClassVar["subprocess.Popen[bytes]"]
    exchanges = count(1)

    def do_POST(self) -> None:
        """Forward a request, and record what it and its answer hold."""
        length = self.headers.get("Content-Length")
        is_chunked = "chunked" in self.headers.get("Transfer-Encoding", "")
        body = b"".join(chunks(self.rfile)) if is_chunked else self.rfile.read(int(length or 0))
        own = self.headers.get("Mcp-Session-Id") or session_in(self.path)
        scope = own or f"exchange {next(self.exchanges)} "
        if self.command == "POST":
            self.notes.asked(body, scope)
        try:
            self.pass_answer(self.ask(body), scope)
        except OSError:
            self.close_connection = True
        if not own:
            self.notes.end_all(scope, GIVEN_UP_STATUS if is_closed(self.connection) else 1)

    do_GET = do_DELETE = do_OPTIONS = do_PUT = do_HEAD = do_POST  # noqa: N815  (names that the base class wants)

    def ask(self, body: bytes) -> http.client.HTTPResponse:
        """Return the server's answer; wait for the server to listen. Raises OSError if it does not."""
        deadline = time.monotonic() + START_SECS
        while True:
            upstream = http.client.HTTPConnection(self.address)
            try:
                upstream.connect()
                break
            except OSError:
                if time.monotonic() > deadline or self.server_process.poll() is not None:
                    self.send_error(502, "the MCP server does not listen")
                    raise
                time.sleep(OFTEN_SECS)
        upstream.putrequest(self.command, self.path, skip_host=True, skip_accept_encoding=True)
        upstream.putheader("Host", self.address)
        for name, value in self.headers.items():
            if name.lower() not in NOT_PASSED:
                upstream.putheader(name, value)
        if body or self.command == "POST":
            upstream.putheader("Content-Length", str(len(body)))
        upstream.endheaders(body)
        return upstream.getresponse()

    def pass_answer(self, answer: http.client.HTTPResponse, scope: str) -> None:
        """Forward the answer: streams as they come, line by line."""
        is_stream = (answer.headers.get_content_type() if answer.headers else "") == "text/event-stream"
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
            self.note(body, scope)
            self.wfile.write(body)
            return
        self.wfile.flush()
        while line := answer.readline():
            field, _, data = line.partition(b":")
            if field == b"data":
                scope = session_in(data.decode(errors="replace").strip()) or scope
                self.note(data, scope)
            self.wfile.write(line)
            self.wfile.flush()

    def note(self, data: bytes, scope: str) -> None:
        """Record what the server said, unless the agent no longer listens. Raises OSError then."""
        if is_closed(self.connection):
            raise ConnectionError
        self.notes.answered(data, scope)

    def log_message(self, *_: object) -> None:
        """Print nothing."""


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
