"""The recorder in front of a server on HTTP, with the official SDK at both ends and with what HTTP allows besides."""

from __future__ import annotations

import asyncio
import http.client
import json
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from mcp import Client
from mcp.client.sse import sse_client

from tests import sdk_server
from tidegate.model.target import McpServer
from tidegate.trial.environment import free_port
from tidegate.trial.mcp import recording
from tidegate.trial.mcp.http_proxy import listens
from tidegate.trial.recorder import Stops

ADD = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "say", "arguments": {"text": "x"}}}


@contextmanager
def proxied(folder: Path, command: str, path: str) -> Iterator[int]:
    """Yield the port of the recorder in front of the server that the command starts."""
    own = free_port()
    with in_front_of(
        folder, McpServer(command=command.replace("{port}", own), url=f"http://127.0.0.1:{own}{path}")
    ) as port:
        yield port


@contextmanager
def in_front_of(folder: Path, server: McpServer) -> Iterator[int]:
    """Yield the port of the recorder in front of the server."""
    (folder / "calls").touch()
    port, environment = int(free_port()), {"PATH": "/usr/bin:/bin"}
    script = recording.install(folder / "script", server, environment, folder, folder / "calls", folder / "s", port)
    with subprocess.Popen([script]) as process:
        while not (folder / "s").exists():
            time.sleep(0.02)
        try:
            yield port
        finally:
            process.terminate()


def recorded(folder: Path) -> list[tuple[str, ...]]:
    return [(*call.argv, call.status) for call in recording.read(folder / "calls", Stops()).invocations]


SDK = f"exec {sys.executable} {sdk_server.__file__}"


@pytest.mark.parametrize(
    ("carrier", "path", "mode"),
    [("streamable-http", "/mcp", "auto"), ("sse", "/sse", "legacy")],
)
def test_sessions_of_two_clients_at_once_are_recorded(tmp_path: Path, carrier: str, path: str, mode: str) -> None:
    """Both number their requests from one."""

    async def work(url: str, title: str) -> None:
        async with Client(sse_client(url) if carrier == "sse" else url, mode=mode) as client:
            await client.call_tool("add", {"title": title})
            await client.call_tool("wait", {"seconds": 0.2})
            await client.call_tool("add", {"title": "refuse"})

    async def both(url: str) -> None:
        await asyncio.gather(work(url, "Emma"), work(url, "Ulysses"))

    with proxied(tmp_path, f"{SDK} {carrier} {{port}} 0.5", path) as port:
        asyncio.run(both(f"http://127.0.0.1:{port}{path}"))
    found = recorded(tmp_path)
    assert sorted(found) == sorted(
        [
            ("add", '{"title": "Emma"}', "ok"),
            ("add", '{"title": "Ulysses"}', "ok"),
            *[("add", '{"title": "refuse"}', "error")] * 2,
            *[("wait", '{"seconds": 0.2}', "ok")] * 2,
        ]
    )


def test_an_agent_that_leaves_before_the_answer_has_given_up(tmp_path: Path) -> None:
    async def work(url: str) -> None:
        async with Client(url) as client:
            with pytest.raises(TimeoutError):
                async with asyncio.timeout(1):
                    await client.call_tool("wait", {"seconds": 2})
            await asyncio.sleep(2.5)

    with proxied(tmp_path, f"{SDK} streamable-http {{port}}", "/mcp") as port:
        asyncio.run(work(f"http://127.0.0.1:{port}/mcp"))
    assert recorded(tmp_path) == [("wait", '{"seconds": 2}', "timeout")]


ODD = """\
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
import sys
class Odd(BaseHTTPRequestHandler):
    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"]))
        if self.path == "/odd":
            self.send_response(307)
            self.send_header("Location", "http://[")
            self.send_header("Content-Length", "0")
            self.end_headers()
            return
        if self.path == "/moved":
            self.send_response(307)
            self.send_header("Location", f"http://{self.headers['Host']}/mcp")
            self.send_header("Content-Length", "0")
            self.end_headers()
            return
        if self.path == "/cut":
            self.send_response(200)
            self.send_header("Content-Type", "text/event-stream")
            self.end_headers()
            self.wfile.write(b'id: 1\\ndata: {"jsonrpc": "2.0", "method": "notifications/progress"}\\n\\n')
            return
        self.send_response(202 if self.path == "/none" else 200)
        self.send_header("Mcp-Session-Id", "abc")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)
    def do_GET(self):
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.end_headers()
        assert (self.headers["Mcp-Session-Id"], self.headers["Last-Event-ID"]) == ("abc", "1")
        self.wfile.write(b'id: 2\\ndata: {"jsonrpc": "2.0", "id": 1, "result": {"content": []}}\\n\\n')
    def do_DELETE(self):
        self.send_response(200 if self.headers["Mcp-Session-Id"] else 405)
        self.send_header("Content-Length", "0")
        self.end_headers()
    def log_message(self, *_): pass
ThreadingHTTPServer(("127.0.0.1", int(sys.argv[1])), Odd).serve_forever()
"""


def test_a_call_that_is_redirected_to_another_path_of_the_server_is_one_call(tmp_path: Path) -> None:
    (tmp_path / "odd.py").write_text(ODD)
    with proxied(tmp_path, f"exec {sys.executable} odd.py {{port}}", "/moved") as port:
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=20)
        connection.request("POST", "/moved", json.dumps(ADD))
        answer = connection.getresponse()
        assert (answer.status, json.loads(answer.read())) == (200, ADD)
        connection.close()
    assert len(recorded(tmp_path)) == 1


def test_a_redirection_to_no_address_is_passed_on(tmp_path: Path) -> None:
    (tmp_path / "odd.py").write_text(ODD)
    with proxied(tmp_path, f"exec {sys.executable} odd.py {{port}}", "/odd") as port:
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=20)
        connection.request("POST", "/odd", json.dumps(ADD))
        assert connection.getresponse().status == 307
        connection.close()


def test_bodies_headers_and_methods_are_passed_unchanged(tmp_path: Path) -> None:
    (tmp_path / "odd.py").write_text(ODD)
    with proxied(tmp_path, f"exec {sys.executable} odd.py {{port}}", "/mcp") as port:
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=20)
        for body in (b'{"a" :  1}', b"\xff\x00", b"x" * 3_000_000):
            connection.request("POST", "/mcp", body, {"Content-Type": "application/json"})
            answer = connection.getresponse()
            assert (answer.status, answer.headers["Mcp-Session-Id"], answer.read()) == (200, "abc", body)
        connection.request(
            "POST", "/mcp", iter([b"ab", b"c"]), encode_chunked=True, headers={"Transfer-Encoding": "chunked"}
        )
        assert connection.getresponse().read() == b"abc"
        connection.request("DELETE", "/mcp")
        assert connection.getresponse().status == 405
        connection.close()


@pytest.mark.parametrize(("then", "status"), [("GET", "ok"), ("DELETE", "timeout"), ("", "error")])
def test_a_call_of_a_session_is_open_until_it_is_resumed_or_the_session_is_deleted(
    tmp_path: Path, then: str, status: str
) -> None:
    (tmp_path / "odd.py").write_text(ODD)
    headers = {"Mcp-Session-Id": "abc", "Last-Event-ID": "1"}
    with proxied(tmp_path, f"exec {sys.executable} odd.py {{port}}", "/cut") as port:
        for method, body in (("POST", json.dumps(ADD)), (then, None)) if then else (("POST", json.dumps(ADD)),):
            connection = http.client.HTTPConnection("127.0.0.1", port, timeout=20)
            connection.request(method, "/cut", body, headers)
            answer = connection.getresponse()
            assert answer.status == 200
            assert (b"id: " in answer.read()) is (method != "DELETE")
            connection.close()
    assert recorded(tmp_path) == [("say", '{"text": "x"}', status)]


def test_a_stream_that_ends_early_without_a_session_is_a_failed_call(tmp_path: Path) -> None:
    (tmp_path / "odd.py").write_text(ODD)
    with proxied(tmp_path, f"exec {sys.executable} odd.py {{port}}", "/mcp") as port:
        with socket.create_connection(("127.0.0.1", port), timeout=20) as client:
            body = json.dumps(ADD).encode()
            client.sendall(b"POST /cut HTTP/1.1\r\nHost: x\r\nContent-Length: %d\r\n\r\n%s" % (len(body), body))
            got = b""
            while data := client.recv(4096):
                got += data
        assert b"notifications/progress" in got
    assert recorded(tmp_path) == [("say", '{"text": "x"}', "error")]


AS_ASKED = """\
import json, sys
from http.server import BaseHTTPRequestHandler, HTTPServer
class AsAsked(BaseHTTPRequestHandler):
    def do_POST(self):
        self.rfile.read(int(self.headers["Content-Length"]))
        status, headers, body = json.loads(self.headers["Wanted"])
        self.send_response(status)
        for name, value in headers.items(): self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body.encode())
    def log_message(self, *_): pass
HTTPServer(("127.0.0.1", int(sys.argv[1])), AsAsked).serve_forever()
"""
RESULT = '{"jsonrpc": "2.0", "id": 1, "result": {"content": []}}'
FIRST, REST = RESULT[:18], RESULT[18:]
JSON, STREAM = {"Content-Type": "application/json"}, {"Content-Type": "text/event-stream"}


def test_an_answer_counts_as_clients_read_it(tmp_path: Path) -> None:
    answers = [
        (200, JSON, RESULT, "ok"),
        (500, JSON, RESULT, "error"),
        (202, JSON, RESULT, "error"),
        (200, {"Content-Type": "text/plain"}, RESULT, "error"),
        (200, JSON | {"Content-Encoding": "gzip"}, RESULT, "error"),
        (200, STREAM, f"event: message\ndata:{RESULT}\n\n", "ok"),
        (200, STREAM, f"data: {FIRST}\r\ndata: {REST}\r\n\r\n", "ok"),
        (200, STREAM, f"data: {RESULT}\r\r", "ok"),
        (200, STREAM, f"event: error\ndata: {RESULT}\n\n", "error"),
        (200, STREAM, f"data: x\ndata: {RESULT}\n\n", "error"),
        (200, STREAM, f"data: {RESULT}\n", "error"),
    ]
    (tmp_path / "server.py").write_text(AS_ASKED)
    with proxied(tmp_path, f"exec {sys.executable} server.py {{port}}", "/mcp") as port:
        for *wanted, _ in answers:
            connection = http.client.HTTPConnection("127.0.0.1", port, timeout=20)
            connection.request("POST", "/mcp", json.dumps(ADD), {"Wanted": json.dumps(wanted)})
            answer = connection.getresponse()
            assert (answer.status, answer.read().decode()) == (wanted[0], wanted[2])
            connection.close()
    assert [status for *_, status in recorded(tmp_path)] == [status for *_, status in answers]


STRICT = """\
import json, os, sys
from http.server import BaseHTTPRequestHandler, HTTPServer
class Strict(BaseHTTPRequestHandler):
    def do_POST(self):
        message = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        with open("asked", "a") as file: print(message["method"], file=file)
        if message["method"] in ("server/discover", "die"):
            os._exit(1)
        who = {"serverInfo": {"name": "s", "version": "1"}}
        greeting = {"protocolVersion": "2025-11-25", "capabilities": {"tools": {}}, **who}
        known = {"initialize": greeting, "tools/list": {"tools": []}}
        result = known.get(message["method"], {"content": []})
        body = json.dumps({"jsonrpc": "2.0", "id": message.get("id"), "result": result}).encode()
        self.send_response(200 if "id" in message else 202)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)
    def do_GET(self): self.send_error(405)
    def log_message(self, *_): pass
HTTPServer(("127.0.0.1", int(sys.argv[1])), Strict).serve_forever()
"""


def test_a_server_that_ends_at_todays_first_request_is_started_again_once(tmp_path: Path) -> None:
    """A later recorder of the trial does not send it that request, and any other end is final."""

    async def work(url: str) -> str:
        async with Client(url) as client:
            await client.list_tools()
            return client.protocol_version

    (tmp_path / "strict.py").write_text(STRICT)
    for _ in range(2):
        with proxied(tmp_path, f"exec {sys.executable} strict.py {{port}}", "/mcp") as port:
            assert asyncio.run(work(f"http://127.0.0.1:{port}/mcp")) == "2025-11-25"
            connection = http.client.HTTPConnection("127.0.0.1", port, timeout=20)
            connection.request("POST", "/mcp", b'{"id": 9, "method": "die"}')
            with pytest.raises(ConnectionError):
                connection.getresponse()
            while listens(f"127.0.0.1:{port}"):
                time.sleep(0.02)
        (tmp_path / "s").unlink()
    asked = [method for method in (tmp_path / "asked").read_text().split() if not method.startswith("notifications/")]
    assert asked == ["server/discover", *["initialize", "tools/list", "die"] * 2]
