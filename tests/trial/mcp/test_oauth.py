"""A server that asks for a token of an authorization server elsewhere."""

from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
from mcp import Client

from tests.trial.mcp.test_http_proxy import SDK, in_front_of
from tidegate.model.target import ClientCredentials, McpServer
from tidegate.trial.environment import free_port
from tidegate.trial.mcp.server_headers import give_headers


@contextmanager
def issuing(path: str, asked: list[str]) -> Iterator[str]:
    """Yield the address of an authorization server for one of its tenants; `asked` gets each path."""

    class Issuer(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            asked.append(self.path)
            metadata = {"issuer": place, "authorization_endpoint": f"{place}/ask", "token_endpoint": f"{place}/token"}
            known = self.path == f"/.well-known/oauth-authorization-server{path}"
            self.answer(200 if known else 404, metadata | {"response_types_supported": ["code"]})

        def do_POST(self) -> None:
            asked.append(self.path)
            self.answer(200, {"access_token": "t0ken", "token_type": "Bearer"})

        def answer(self, status: int, value: object) -> None:
            body = json.dumps(value).encode()
            self.send_response_only(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            """Print nothing."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Issuer) as server:
        place = f"http://127.0.0.1:{server.server_port}{path}"
        threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True).start()
        yield place
        server.shutdown()


def guarded(issuer: str, named: str) -> McpServer:
    """A server that names the first issuer, and a suite that names the second one."""
    own = free_port()
    known = ClientCredentials(issuer=named, client_id="tester", client_secret="s3cret")
    return McpServer(command=f"{SDK} guarded {own} {issuer}", url=f"http://127.0.0.1:{own}/mcp", oauth=known)


@pytest.mark.parametrize("path", ["", "/tenants/one"])
def test_the_token_comes_from_the_address_that_the_server_and_the_suite_name(tmp_path: Path, path: str) -> None:
    async def offered(server: McpServer, url: str) -> int:
        await give_headers(server, tmp_path / "s")
        async with Client(url) as client:
            return len((await client.list_tools()).tools)

    asked: list[str] = []
    with issuing(path, asked) as issuer:
        server = guarded(issuer, issuer)
        with in_front_of(tmp_path, server) as port:
            assert asyncio.run(offered(server, f"http://127.0.0.1:{port}/mcp")) > 0
    assert asked[-1] == f"{path}/token"


def test_an_issuer_that_only_the_server_names_is_asked_nothing(tmp_path: Path) -> None:
    """Else a pull request could take the secret there."""
    asked: list[str] = []
    with issuing("", asked) as issuer, issuing("", []) as ours:
        server = guarded(issuer, ours)
        with in_front_of(tmp_path, server), pytest.raises(OSError, match="is not at the issuer"):
            asyncio.run(give_headers(server, tmp_path / "s"))
    assert asked == []
