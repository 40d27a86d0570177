"""A web server for pages of this machine's user: loopback only, below a secret path."""

from __future__ import annotations

import secrets
import threading
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


class LocalServer(ThreadingHTTPServer):
    """Serves on 127.0.0.1 only, on a free port."""

    daemon_threads = True

    def __init__(self, handler: type[LocalHandler]) -> None:
        super().__init__(("127.0.0.1", 0), handler)
        self.origin = f"http://127.0.0.1:{self.server_port}"
        self.prefix = f"/{secrets.token_urlsafe(16)}/"
        self.lock = threading.Lock()  # one request at a time reads or writes files

    @property
    def url(self) -> str:
        """The address of the page."""
        return self.origin + self.prefix

    def stop(self) -> None:
        """End `serve_forever`. A request handler calls this, so it runs in another thread to avoid a deadlock."""
        threading.Thread(target=self.shutdown, daemon=True).start()


class LocalHandler(BaseHTTPRequestHandler):
    """Answers requests below the secret path. `policy` is the Content-Security-Policy of every answer."""

    policy = "frame-ancestors 'none'"
    server: LocalServer

    def path_below(self) -> str | None:
        """Return the path below the secret prefix, or None if the prefix or the Host header is wrong.

        The Host check stops pages of other sites that reach this server by DNS rebinding.
        """
        server = self.server
        known = f"http://{self.headers.get('Host')}" == server.origin
        return self.path.removeprefix(server.prefix) if known and self.path.startswith(server.prefix) else None

    def send_text(self, text: str, kind: str) -> None:
        """Send a text that no cache keeps."""
        data = text.encode(errors="replace")
        self.send_response(HTTPStatus.OK)
        self.send_header("Content-Type", f"{kind}; charset=utf-8")
        self.send_header("Content-Length", str(len(data)))
        self.send_header("Content-Security-Policy", self.policy)
        self.send_header("X-Content-Type-Options", "nosniff")
        self.send_header("Referrer-Policy", "no-referrer")
        self.send_header("Cache-Control", "no-store")
        self.end_headers()
        self.wfile.write(data)

    def refuse(self, status: HTTPStatus, message: str | None = None) -> None:
        """Send an error."""
        self.send_error(status, message)

    def log_message(self, format: str, *args: Any) -> None:
        """Log nothing, so that the terminal stays readable."""
