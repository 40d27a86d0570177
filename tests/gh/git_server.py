"""git over http, as a forge serves it: by git's own backend, to whoever has a token with the permission `contents`."""

from __future__ import annotations

import base64
import os
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread

_FORBIDDEN = b"Permission to acme/notes.git denied to github-actions[bot].\n"


class GitServer(ThreadingHTTPServer):
    """Serves the repositories of a folder. `seen`: the Authorization of every request that had one."""

    def __init__(self, folder: Path) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.folder = folder
        self.seen: list[str] = []

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_port}"

    def token(self, header: str | None) -> str | None:
        """The token of a request, as GitHub asks for it; the stand-in's tokens name their permissions."""
        if header is None:
            return None
        self.seen.append(header)
        kind, _, text = header.partition(" ")
        user, _, token = base64.b64decode(text).decode().partition(":")
        return token if (kind.lower(), user) == ("basic", "x-access-token") else None


class _Handler(BaseHTTPRequestHandler):
    server: GitServer

    def do_GET(self) -> None:
        self._serve()

    def do_POST(self) -> None:
        self._serve()

    def _serve(self) -> None:
        token = self.server.token(self.headers.get("Authorization"))
        if token is None:
            self._refuse(401, b"Invalid username or token.\n")
        elif "contents-" not in token:
            self._refuse(404, b"Repository not found.\n")
        elif "git-receive-pack" in self.path and "contents-write" not in token:
            self._refuse(403, _FORBIDDEN)
        else:
            self._answer()

    def _answer(self) -> None:
        path, _, query = self.path.partition("?")
        answer = subprocess.run(
            ["git", "http-backend"],
            input=self._body(),
            env={
                **os.environ,
                "GIT_PROJECT_ROOT": str(self.server.folder),
                "GIT_HTTP_EXPORT_ALL": "1",
                "REMOTE_USER": "bot",
                "PATH_INFO": path,
                "QUERY_STRING": query,
                "REQUEST_METHOD": self.command,
                "CONTENT_TYPE": self.headers.get("Content-Type", ""),
                "HTTP_CONTENT_ENCODING": self.headers.get("Content-Encoding", ""),
                "GIT_PROTOCOL": self.headers.get("Git-Protocol", ""),
            },
            capture_output=True,
            check=True,
        ).stdout
        head, _, body = answer.partition(b"\r\n\r\n")
        fields = dict(line.split(": ", 1) for line in head.decode().split("\r\n"))
        self.send_response(int(fields.pop("Status", "200").split()[0]))
        for name, value in fields.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)

    def _body(self) -> bytes:
        if self.headers.get("Transfer-Encoding") == "chunked":
            parts = []
            while size := int(self.rfile.readline(), 16):
                parts.append(self.rfile.read(size))
                self.rfile.readline()
            return b"".join(parts)
        return self.rfile.read(int(self.headers.get("Content-Length") or 0))

    def _refuse(self, status: int, text: bytes) -> None:
        self.send_response(status)
        if status == 401:
            self.send_header("WWW-Authenticate", 'Basic realm="GitHub"')
        self.send_header("Content-Type", "text/plain")
        self.send_header("Content-Length", str(len(text)))
        self.end_headers()
        self.wfile.write(text)

    def log_message(self, format: str, *args: object) -> None:
        """Not to the tests' output."""


@contextmanager
def serve(folder: Path) -> Iterator[GitServer]:
    """While the block runs."""
    server = GitServer(folder)
    thread = Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield server
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
