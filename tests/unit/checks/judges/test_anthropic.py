"""The judge `anthropic`: every failure is reported in the reply, never raised."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread

import pytest

from tests.model_server import HALF, Fault, Step, serving
from tidegate.checks.judges.provider import AnthropicJudge
from tidegate.checks.rubrics.reading import score_form
from tidegate.model.judge import AskModel, JudgeContext, Reply, ReplyEnd

WHOLE = {"id": "x", "type": "message", "role": "assistant", "model": "m", "stop_reason": "end_turn"}
USED = {"usage": {"input_tokens": 1, "output_tokens": 1}}


def asked(url: str, key: str = "dummy-key") -> Reply:
    async def ask_once() -> Reply:
        place = JudgeContext(Path(), {"ANTHROPIC_API_KEY": key, "ANTHROPIC_BASE_URL": url})
        async with AnthropicJudge(type="anthropic", model="m", timeout_secs=20).opened(place) as ask:
            return await ask(AskModel(system="s", before="b", answer_schema=score_form()), 2)

    return asyncio.run(ask_once())


@contextmanager
def saying(body: str) -> Iterator[str]:
    """A server that says this to everything, as if all were well."""

    class Handler(BaseHTTPRequestHandler):
        def log_message(self, *_: object) -> None:
            """Nothing on stderr."""

        def do_POST(self) -> None:
            self.rfile.read(int(self.headers["content-length"]))
            self.send_response(200)
            self.send_header("content-type", "application/json" if body[:1] in "{[n" else "text/html")
            self.send_header("content-length", str(len(body)))
            self.end_headers()
            self.wfile.write(body.encode())

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_port}"
        finally:
            server.shutdown()
            thread.join()


@pytest.mark.parametrize(
    "body",
    [
        "{}",
        "<html>Please log in to the network.</html>",
        "[]",
        "null",
        '{"id":',
        json.dumps(WHOLE),
        json.dumps(WHOLE | USED | {"content": None}),
        json.dumps(WHOLE | USED | {"content": [{"type": "text"}]}),
    ],
)
def test_what_is_no_message_is_no_answer(body: str) -> None:
    with saying(body) as url:
        reply = asked(url)
    assert (reply.end, reply.sample) == ("outage", 2)
    assert reply.message.startswith("what came back is not a message of a model: ")


@pytest.mark.parametrize(
    ("fault", "end", "says"),
    [
        (Fault(0), "outage", "RemoteProtocolError"),
        (Fault(HALF), "outage", "RemoteProtocolError"),
        (Fault(404, "not_found_error"), "failed", "HTTP 404, not_found_error: scripted 404"),
        (Fault(403, "permission_error"), "auth", "HTTP 403"),
    ],
)
def test_what_breaks_on_the_way_is_told(fault: Fault, end: ReplyEnd, says: str) -> None:
    with serving([], [fault] * 3) as server:
        reply = asked(server.url)
    assert reply.end == end
    assert says in reply.message


def test_a_missing_key_is_told_without_asking() -> None:
    with serving([]) as server:
        assert asked(server.url, key="").end == "no_judge"
        assert server.requests == []


def test_an_unknown_stop_is_no_answer() -> None:
    with serving([]) as server:
        server.judge = lambda _: Step('{"score": 1}', stop="pause_turn")
        reply = asked(server.url)
    assert (reply.end, reply.message) == ("failed", "the model stopped: pause_turn")
