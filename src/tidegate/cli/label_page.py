"""The page of `tidegate label --page`: asks the same questions in a browser on this machine."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from http import HTTPStatus
from importlib.resources import files
from typing import Any, NamedTuple

from tidegate.cli.local_server import LocalHandler, LocalServer
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


class LabelServer(LocalServer):
    """Serves the page. `ask` returns the question with a number; `keep` stores an answer."""

    def __init__(self, questions: int, ask: Callable[[int], Question], keep: Callable[[int, Mark], None]) -> None:
        super().__init__(_Handler)
        self.questions, self.ask, self.keep = questions, ask, keep


class _Handler(LocalHandler):
    policy = POLICY
    server: LabelServer

    def do_GET(self) -> None:  # noqa: N802 (the library's name)
        path = self.path_below()
        if path is None:
            return self.refuse(HTTPStatus.FORBIDDEN)
        if path in _FILES:
            name, kind = _FILES[path]
            return self.send_text(files("tidegate.templates").joinpath(name).read_text(encoding="utf-8"), kind)
        number = self._number(path)
        if number is None:
            return self.refuse(HTTPStatus.NOT_FOUND)
        return self.send_text(json.dumps(self.server.ask(number)._asdict()), "application/json")

    def do_POST(self) -> None:  # noqa: N802 (the library's name)
        path, body = self.path_below(), self._body()
        if path is None or self.headers.get("Origin") != self.server.origin:
            return self.refuse(HTTPStatus.FORBIDDEN)
        if path == "done":
            self.send_text("", "text/plain")
            return self.server.stop()
        number, verdict = self._number(path), body.get("verdict")
        if number is None or verdict not in ("met", "unmet"):
            return self.refuse(HTTPStatus.BAD_REQUEST)
        with self.server.lock:
            self.server.keep(number, verdict)
        return self.send_text("", "text/plain")

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
