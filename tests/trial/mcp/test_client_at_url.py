"""Our own client of a server with a URL, at the socket where the recorder would be."""

from __future__ import annotations

import asyncio
import json
import socket
import threading
from collections.abc import Sequence
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from socketserver import ThreadingUnixStreamServer
from typing import Any, ClassVar

import httpx2
import pytest

from tidegate.model.agent import ToolAnswer
from tidegate.model.target import McpServer
from tidegate.trial.mcp.mcp_client import AS_AGENTS, MODES, Mode, connected_at
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
    able: ClassVar[list[set[str]]] = []  # the capabilities of its clients

    def do_POST(self) -> None:
        message = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.asked.append(message["method"])
        if message["method"] == "initialize":
            self.able.append({*message["params"]["capabilities"]})
        if message["method"] == "server/discover":
            return  # without an answer
        self.send(self.body(message), 200 if "id" in message else 202)

    def body(self, message: dict[str, Any]) -> str:
        result = GREETING if message["method"] == "initialize" else {"tools": []}
        return json.dumps({"jsonrpc": "2.0", "id": message.get("id"), "result": result})

    def send(self, body: str, status: int, kind: str = "application/json") -> None:
        self.send_response_only(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body.encode())

    def do_GET(self) -> None:
        self.send_error(405)

    def log_message(self, *_: object) -> None:
        """Print nothing."""


class Doubled(Strict):
    """Answers to calls with a key twice in one object; to those of `stream` with an event."""

    def do_POST(self) -> None:
        message = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        if message["method"] != "tools/call":
            self.send(self.body(message), 200 if "id" in message else 202)
            return
        told = {"content": [{"type": "text", "text": "added"}], "isError": False}
        body = json.dumps({"jsonrpc": "2.0", "id": message["id"], "result": told})
        body = body.replace('"isError"', '"isError": true, "isError"')
        is_stream = message["params"]["name"] == "stream"
        self.send(*((f"data: {body}\n\n", 200, "text/event-stream") if is_stream else (body, 200)))


@pytest.mark.parametrize("tool", ["plain", "stream"])
def test_an_answer_with_a_key_twice_is_refused_as_over_stdio(tool: str, tmp_path: Path) -> None:
    async def work() -> ToolAnswer:
        server = McpServer(command="x", url="http://127.0.0.1:1/mcp")
        async with connected_at(server, tmp_path / "s", modes=AS_AGENTS) as client:
            return await client.ask("tool", tool, {}, 9)

    with ThreadingUnixStreamServer(str(tmp_path / "s"), Doubled) as listening:
        threading.Thread(target=listening.serve_forever, args=(0.05,), daemon=True).start()
        told = asyncio.run(work())
        listening.shutdown()
    why = "the server's answer is not a valid result: it has a key twice in one object"
    assert told == ToolAnswer("invalid", why)


def opened(folder: Path, modes: Sequence[Mode]) -> tuple[str, list[str], list[str], list[set[str]]]:
    """The instructions, what the client notes, and what the server was asked, with its clients' capabilities."""

    async def work() -> tuple[str, list[str]]:
        server = McpServer(command="x", url="http://127.0.0.1:1/mcp")
        async with connected_at(server, folder / "s", modes=modes) as client:
            return (await client.tools()).instructions, [*client.refused]

    Strict.asked.clear()
    Strict.able.clear()
    with ThreadingUnixStreamServer(str(folder / "s"), Strict) as listening:
        threading.Thread(target=listening.serve_forever, args=(0.05,), daemon=True).start()
        told = asyncio.run(work())
        listening.shutdown()
    return *told, Strict.asked, Strict.able


def test_a_server_that_refuses_what_comes_before_initialize_is_asked_again_and_it_is_noted(tmp_path: Path) -> None:
    instructions, notes, asked, able = opened(tmp_path, MODES)
    assert (instructions, asked[:2], able) == ("Be kind.", ["server/discover", "initialize"], [set()])
    assert notes == ["it opens no session that begins with `server/discover`"]


def test_the_check_opens_its_session_as_agents_do(tmp_path: Path) -> None:
    instructions, notes, asked, able = opened(tmp_path, AS_AGENTS)
    assert (instructions, notes, asked[0]) == ("Be kind.", [], "initialize")
    assert able == [{"elicitation", "roots"}]


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
