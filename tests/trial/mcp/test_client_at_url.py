"""Our own client of a server with a URL, at the socket where the recorder would be."""

from __future__ import annotations

import asyncio
import json
import socket
import threading
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from socketserver import ThreadingUnixStreamServer
from typing import ClassVar

import httpx2

from tidegate.model.target import McpServer
from tidegate.trial.mcp.mcp_client import connected_at
from tidegate.trial.mcp.over_socket import OverSocket

GREETING = {
    "protocolVersion": "2025-11-25",
    "capabilities": {"tools": {}},
    "serverInfo": {"name": "s", "version": "1"},
    "instructions": "Be kind.",
}


class Strict(BaseHTTPRequestHandler):
    """Closes the connection at today's first request."""

    asked: ClassVar[list[str]] = []

    def do_POST(self) -> None:
        message = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.asked.append(message["method"])
        if message["method"] == "server/discover":
            return  # without an answer
        result = GREETING if message["method"] == "initialize" else {"tools": []}
        body = json.dumps({"jsonrpc": "2.0", "id": message.get("id"), "result": result}).encode()
        self.send_response_only(200 if "id" in message else 202)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def do_GET(self) -> None:
        self.send_error(405)

    def log_message(self, *_: object) -> None:
        """Print nothing."""


def test_a_server_that_refuses_what_comes_before_initialize_is_asked_again(tmp_path: Path) -> None:
    async def work() -> str:
        server = McpServer(command="x", url="http://127.0.0.1:1/mcp")
        async with connected_at(server, tmp_path / "s") as client:
            return (await client.tools()).instructions

    with ThreadingUnixStreamServer(str(tmp_path / "s"), Strict) as listening:
        threading.Thread(target=listening.serve_forever, args=(0.05,), daemon=True).start()
        assert asyncio.run(work()) == "Be kind."
        listening.shutdown()
    assert Strict.asked[:2] == ["server/discover", "initialize"]


def test_a_request_that_is_cancelled_as_data_comes_leaves_no_error(tmp_path: Path) -> None:
    """The loop would print what is given to its exception handler."""
    errors: list[object] = []

    async def work(listening: socket.socket) -> None:
        loop = asyncio.get_running_loop()
        loop.set_exception_handler(lambda _, context: errors.append(context))
        async with httpx2.AsyncClient(transport=OverSocket(tmp_path / "s")) as http:
            asking = asyncio.ensure_future(http.get("http://localhost/"))
            server = (await loop.sock_accept(listening))[0]
            await loop.sock_recv(server, 4096)
            server.send(b"HTTP/1.1 200 OK\r\n")
            loop.call_soon(asking.cancel)  # runs when the loop has seen the data, and before they are read
            await asyncio.wait({asking})
            server.close()

    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind(str(tmp_path / "s"))
        listening.listen()
        listening.setblocking(False)
        asyncio.run(work(listening))
    assert errors == []
