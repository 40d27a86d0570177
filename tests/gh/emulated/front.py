"""A loopback server in front of the emulated GitHub: it checks, records and, when told, spoils what passes."""

from __future__ import annotations

import http.client
import json
import re
import ssl
import sys
import threading
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from io import BufferedIOBase
from pathlib import Path
from typing import Literal, NamedTuple

from tests.gh.emulated.contract import Contract

When = Literal["before", "after"]
ANY = "."  # as a fault's method

HOP_BY_HOP = frozenset({"connection", "keep-alive", "transfer-encoding", "content-length", "date", "server"})


@dataclass
class Fault:
    """What goes wrong with the next `times` requests that match.

    `before`: GitHub never sees the request; `after`: it does what it was asked, and the answer gets lost.
    `meanwhile` is called first: something that happens between two requests of ours.
    """

    method: str
    path: str = ""
    when: When = "before"
    status: int | None = 502
    message: str = "Server Error"
    headers: Mapping[str, str] = field(default_factory=dict)
    body: str | None = None  # instead of the message
    drop: bool = False
    delay: float = 0.0  # seconds before the answer
    speak: Callable[[BufferedIOBase], object] | None = None  # writes the whole answer itself, as no HTTP server would
    meanwhile: Callable[[], object] | None = None
    times: int = 1


class Seen(NamedTuple):
    """A request that passed, and what the client was answered; 0: nothing at all."""

    method: str
    path: str
    status: int


class Answer(NamedTuple):
    """Status, headers, body."""

    status: int
    headers: Mapping[str, str]
    body: bytes
    speak: Callable[[BufferedIOBase], object] | None = None


Forward = Callable[[str, str, Mapping[str, str], bytes], Answer]


class Front:
    """The server; `port` is what clients talk to, `backend` the port of the emulated GitHub, unless `forward` is set.

    `base_path`: what stands before every path, `/api/v3` on GitHub Enterprise Server, or a proxied server's whole
    address. `certificate`: with its key, in one file, to serve https.
    """

    def __init__(self, certificate: Path | None = None) -> None:
        self.backend = 0
        self.forward: Forward = self._forward_to_backend
        self.base_path = ""
        self.faults: list[Fault] = []
        self.seen: list[Seen] = []
        self.violations: list[str] = []
        self._contract = Contract()
        front = self

        class Handler(_Handler):
            """Bound to this front."""

            owner = front

        self._server = _Server(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        if certificate is not None:
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            context.load_cert_chain(certificate)
            self._server.socket = context.wrap_socket(self._server.socket, server_side=True)
        self.port = self._server.server_address[1]
        self.url = f"http{'s' if certificate else ''}://127.0.0.1:{self.port}"
        self._thread = threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.02})
        self._thread.start()

    def stop(self) -> None:
        """Stop serving."""
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    def reset(self) -> None:
        """Forget everything, for the next test."""
        self.base_path = ""
        self.faults.clear()
        self.seen.clear()
        self.violations.clear()

    def writes(self) -> list[Seen]:
        """All but the reading requests; what is asked by GraphQL is a query."""
        return [seen for seen in self.seen if seen.method not in ("GET", "HEAD") and seen.path != "/graphql"]

    def answer(self, method: str, path: str, headers: Mapping[str, str], body: bytes) -> Answer | None:
        """What the client gets; None: the connection is dropped."""
        path = self._below_base(path)
        if violation := self._contract.violation(method, path, headers, body):
            self.violations.append(violation)
        fault = self._fault(method, path)
        if fault and fault.meanwhile:
            fault.meanwhile()
        spoilt = fault is not None and (fault.drop or fault.status is not None)
        answer: Answer | None = None
        if not (fault and spoilt and fault.when == "before"):
            answer = self.forward(method, path, headers, body)
        if fault:
            time.sleep(fault.delay)
        if fault and spoilt:
            answer = None if fault.drop else _failure(fault)
        self.seen.append(Seen(method, path, answer.status if answer else 0))
        return answer

    def _below_base(self, path: str) -> str:
        """The path as on github.com: on an Enterprise Server GraphQL lies beside `v3`, not below it."""
        if self.base_path and path == f"{self.base_path.removesuffix('/v3')}/graphql":
            return "/graphql"
        if not path.startswith(self.base_path):
            self.violations.append(f"{path}: not below {self.base_path}")
        return path.removeprefix(self.base_path)

    def _fault(self, method: str, path: str) -> Fault | None:
        for fault in self.faults:
            if fault.times > 0 and fault.method in (method, ANY) and re.search(fault.path, path):
                fault.times -= 1
                return fault
        return None

    def _forward_to_backend(self, method: str, path: str, headers: Mapping[str, str], body: bytes) -> Answer:
        connection = http.client.HTTPConnection("127.0.0.1", self.backend, timeout=30)
        try:
            connection.request(method, path, body or None, dict(headers))
            response = connection.getresponse()
            kept = {name: value for name, value in response.getheaders() if name.lower() not in HOP_BY_HOP}
            return Answer(response.status, kept, response.read())
        finally:
            connection.close()


def _failure(fault: Fault) -> Answer:
    told = {"message": fault.message, "documentation_url": "https://docs.github.com/rest"}
    body = json.dumps(told).encode() if fault.body is None else fault.body.encode()
    headers = {"Content-Type": "application/json; charset=utf-8", **fault.headers}
    return Answer(fault.status or 502, headers, body, fault.speak)


class _Server(ThreadingHTTPServer):
    def handle_error(self, request: object, client_address: object) -> None:
        """Say nothing of clients that have gone."""
        if not isinstance(sys.exception(), ConnectionError):
            super().handle_error(request, client_address)  # type: ignore[arg-type]


class _Handler(BaseHTTPRequestHandler):
    owner: Front
    protocol_version = "HTTP/1.1"
    wbufsize = -1  # one packet for each answer, or the client's kernel waits 40 ms for the second

    def _serve(self) -> None:
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        answer = self.owner.answer(self.command, self.path, dict(self.headers.items()), body)
        if answer is None:
            self.close_connection = True
            return
        if answer.speak is not None:
            self.close_connection = True
            with suppress(OSError):  # the client has gone
                answer.speak(self.wfile)
                self.wfile.flush()
            return
        self.send_response_only(answer.status)
        for name, value in answer.headers.items():
            self.send_header(name, value)
        if answer.status != 204:
            self.send_header("Content-Length", str(len(answer.body)))
        self.end_headers()
        self.wfile.write(answer.body)

    do_GET = do_POST = do_PATCH = do_DELETE = do_PUT = _serve  # noqa: N815

    def log_message(self, format: str, *args: object) -> None:
        """Say nothing."""
