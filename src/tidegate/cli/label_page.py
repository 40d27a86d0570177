"""The page of `tidegate label --page`: asks the same questions in a browser on this machine."""

from __future__ import annotations

import json
import re
import secrets
import threading
from collections.abc import Callable
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from importlib.resources import files
from typing import Any, NamedTuple

from tidegate.model.calibration import Mark

MAX_BODY = 1_000  # bytes
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src data:; base-uri 'none';"
    " form-action 'none'; frame-ancestors 'none'"
)
_FILES = {
    "": ("label/label.html", "text/html"),
    "label.js": ("label/label.js", "text/javascript"),
    "dom.js": ("page/dom.js", "text/javascript"),
    "style.css": ("page/style.css", "text/css"),
}


class Question(NamedTuple):
    """One criterion of one trial as shown to the person, and the label given so far."""

    of: int  # the number of questions
    name: str
    criterion: str
    description: str
    task: str
    story: str
    verdict: Mark | None


class LabelServer(ThreadingHTTPServer):
    """Serves the page on the loopback interface only, below a secret path.

    `ask` returns the question with a number; `keep` stores an answer.
    """

    daemon_threads = True

    def __init__(self, questions: int, ask: Callable[[int], Question], keep: Callable[[int, Mark], None]) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.questions, self.ask, self.keep = questions, ask, keep
        self.origin = f"http://127.0.0.1:{self.server_port}"
        self.prefix = f"/{secrets.token_urlsafe(16)}/"
        self.lock = threading.Lock()  # one answer is stored at a time

    @property
    def url(self) -> str:
        """The address of the page."""
        return self.origin + self.prefix

    def stop(self) -> None:
        """End `serve_forever`. A request handler calls this, so it runs in another thread to avoid a deadlock."""
        threading.Thread(target=self.shutdown, daemon=True).start()


class _Handler(BaseHTTPRequestHandler):
    server: LabelServer

    def do_GET(self) -> None:
        path = self._path()
        if path is None:
            return self._refuse(HTTPStatus.FORBIDDEN)
        if path in _FILES:
            name, kind = _FILES[path]
            return self._send(files("tidegate.templates").joinpath(name).read_text(encoding="utf-8"), kind)
        number = self._number(path)
        if number is None:
            return self._refuse(HTTPStatus.NOT_FOUND)
        return self._send(json.dumps(self.server.ask(number)._asdict()), "application/json")

    def do_POST(self) -> None:
        path, body = self._path(), self._body()
        if path is None or self.headers.get("Origin") != self.server.origin:
            return self._refuse(HTTPStatus.FORBIDDEN)
        if path == "done":
            self._send("", "text/plain")
            return self.server.stop()
        number, verdict = self._number(path), body.get("verdict")
        if number is None or verdict not in ("met", "unmet"):
            return self._refuse(HTTPStatus.BAD_REQUEST)
        with self.server.lock:
            self.server.keep(number, verdict)
        return self._send("", "text/plain")

    def _path(self) -> str | None:
        """Return the path below the secret prefix, or None if the prefix or the Host header is wrong.

        The Host check stops pages of other sites that reach this server by DNS rebinding.
        """
        known = f"http://{self.headers.get('Host')}" == self.server.origin
        return (
            self.path.removeprefix(self.server.prefix) if known and self.path.startswith(self.server.prefix) else None
        )

    def _number(self, path: str) -> int | None:
        asked = re.fullmatch(r"questions/([0-9]{1,6})", path)
        return int(asked[1]) if asked and int(asked[1]) < self.server.questions else None

    def _body(self) -> dict[str, Any]:
        length = re.fullmatch(r"[0-9]{1,6}", self.headers.get("Content-Length") or "")
        raw = self.rfile.read(min(int(length[0]), MAX_BODY)) if length else b""
        try:
            found = json.loads(raw)
        except ValueError:
            return {}
        return found if isinstance(found, dict) else {}

    def _send(self, text: str, kind: str) -> None:
        data = text.encode(errors="replace")
        self.send_response(HTTPStatus.OK)
        self.send_header("Content-Type", f"{kind}; charset=utf-8")
        self.send_header("Content-Length", str(len(data)))
        self.send_header("Content-Security-Policy", POLICY)
        self.send_header("X-Content-Type-Options", "nosniff")
        self.send_header("Referrer-Policy", "no-referrer")
        self.send_header("Cache-Control", "no-store")
        self.end_headers()
        self.wfile.write(data)

    def _refuse(self, status: HTTPStatus) -> None:
        self.send_error(status)

    def log_message(self, format: str, *args: Any) -> None:
        """Log nothing, so that the terminal stays readable."""
