"""The model proxy, with real servers on loopback as providers."""

from __future__ import annotations

import json
import socket
import time
from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager, suppress
from http.client import HTTPConnection, HTTPResponse, IncompleteRead
from pathlib import Path
from threading import Event, Thread
from typing import Any
from urllib.parse import urlsplit

import pytest

from tests.make import sure
from tests.model_server import Fault, ModelServer, Step, serving
from tidegate.agents.model_proxy.connections import MOST_CONNECTIONS, MOST_OF_ONE_TRIAL
from tidegate.agents.model_proxy.proxy import ModelProxy
from tidegate.agents.model_proxy.traffic import Lease
from tidegate.agents.providers.access import KeyAccess
from tidegate.errors import ConfigurationError
from tidegate.model.event import End
from tidegate.model.provider import ANTHROPIC, GOOGLE, OPENAI, ModelApi

KEY = "the-real-key"
QUESTION: dict[str, Any] = {"model": "m", "max_tokens": 9, "messages": [{"role": "user", "content": "?"}]}
TOMORROW = {"retry-after": "86400"}  # a limit that no request waits for
QUESTION["tools"] = [{"name": "bash"}]


@contextmanager
def lent(*faults: Fault) -> Iterator[tuple[ModelServer, Lease]]:
    """A provider, and what a trial was lent to ask it."""
    with (
        serving([Step("Well.")], list(faults)) as server,
        ModelProxy() as model_proxy,
        model_proxy.lent(ANTHROPIC, KeyAccess(KEY), server.url) as lease,
    ):
        yield server, lease


@contextmanager
def client(lease: Lease) -> Iterator[HTTPConnection]:
    """A connection to the proxy, as an agent's library makes one."""
    place = urlsplit(lease.address)
    with closing(HTTPConnection(str(place.hostname), place.port, timeout=60)) as connection:
        yield connection


def posted(connection: HTTPConnection, lease: Lease, body: bytes = b"{}", path: str = "/v1/messages") -> HTTPResponse:
    """The answer to a request, of which nothing is read yet."""
    connection.request("POST", path, body, {"x-api-key": lease.token})
    return connection.getresponse()


def told(lease: Lease) -> End:
    """What the proxy knows of the agent's requests."""
    return sure(lease.traffic.told())


def ask(
    lease: Lease,
    path: str = "/v1/messages",
    token: str | None = None,
    *,
    header: str = "x-api-key",
    method: str = "POST",
    body: dict[str, Any] = QUESTION,
) -> tuple[int, bytes]:
    """What the model proxy answers."""
    sent = {header: lease.token if token is None else token, "anthropic-version": "2026-10-21"}
    asked = json.dumps(body).encode() if method == "POST" else None
    with client(lease) as connection:
        connection.request(method, urlsplit(lease.address).path + path, asked, sent)
        answer = connection.getresponse()
        return answer.status, answer.read()


@pytest.mark.parametrize(("header", "form"), [("x-api-key", "{}"), ("authorization", "Bearer {}")])
def test_the_provider_sees_the_key_and_the_agent_the_answer(header: str, form: str) -> None:
    with lent() as (server, lease):
        status, body = ask(lease, token=form.format(lease.token), header=header)
    assert (status, json.loads(body)["content"][0]["text"]) == (200, "Well.")
    ((path, asked, headers),) = server.requests
    assert (path, asked, headers["anthropic-version"]) == ("/v1/messages", QUESTION, "2026-10-21")
    assert headers[header] == form.format(KEY)
    assert headers["host"] == urlsplit(server.url).netloc
    assert lease.token not in json.dumps(headers)


@pytest.mark.parametrize("token", ["", "tidegate-" + 48 * "0", KEY])
def test_another_token_is_refused_and_nobody_is_asked(token: str) -> None:
    with lent() as (server, lease):
        status, body = ask(lease, token=token)
    assert (status, json.loads(body)["error"]["type"]) == (401, "authentication_error")
    assert server.requests == []


def test_a_token_is_worth_nothing_when_its_trial_is_over() -> None:
    with serving([Step("Well.")]) as server, ModelProxy() as model_proxy:
        with (
            model_proxy.lent(ANTHROPIC, KeyAccess(KEY), server.url) as over,
            model_proxy.lent(ANTHROPIC, KeyAccess(KEY), server.url) as other,
        ):
            assert over.token != other.token
            assert ask(over)[0] == 200
        assert ask(over)[0] == 401
    assert len(server.requests) == 1


@pytest.mark.parametrize(
    "path",
    [
        "/",
        "/v1/files",
        "/v1/organizations/api_keys",
        "/v1/messages/batches",
        "/v1/models/../files",
        "/v1/models/%2e%2e/x",
    ],
)
def test_only_models_are_asked(path: str) -> None:
    with lent() as (server, lease):
        assert ask(lease, path)[0] == 404
        assert ask(lease, path, method="GET")[0] == 404
    assert server.requests == []


@pytest.mark.parametrize(
    ("provider", "path", "known"),
    [
        (OPENAI, "/responses", True),
        (OPENAI, "/files", False),
        (GOOGLE, "/v1beta/models/gemini-3.8-flash:streamGenerateContent", True),
        (GOOGLE, "/v1beta/files", False),
        (GOOGLE, "/v1beta/models/x:tune", False),
    ],
)
def test_every_provider_has_requests_of_its_own(provider: Any, path: str, known: bool) -> None:
    with (
        serving([]) as server,
        ModelProxy() as model_proxy,
        model_proxy.lent(provider, KeyAccess(KEY), f"{server.url}/base") as lease,
    ):
        assert lease.address.endswith("/base")
        ask(lease, path, method="GET")
        assert ask(lease, path, method="GET")[0] == (200 if known else 404)


def test_the_providers_errors_are_passed_on_with_their_headers() -> None:
    with lent(Fault(529, "overloaded_error", TOMORROW)) as (_, lease), client(lease) as connection:
        answer = posted(connection, lease)
        assert (answer.status, answer.headers["retry-after"]) == (529, "86400")
        assert json.loads(answer.read())["error"]["type"] == "overloaded_error"
        again = posted(connection, lease, json.dumps(QUESTION).encode())
        assert again.status == 200, "the connection can be used again"


def test_a_provider_that_is_not_there_is_an_error_of_the_gateway() -> None:
    with socket.create_server(("127.0.0.1", 0)) as nobody:
        port = nobody.getsockname()[1]
    with ModelProxy() as model_proxy, model_proxy.lent(ANTHROPIC, KeyAccess(KEY), f"http://127.0.0.1:{port}") as lease:
        status, body = ask(lease)
    assert status == 502
    assert "could not be reached: ConnectionRefusedError" in json.loads(body)["error"]["message"]


@contextmanager
def raw_provider(*parts: bytes, go_on: Event) -> Iterator[str]:
    """A provider that sends these parts, the second and later ones when it is told to go on, and hangs up."""
    with socket.create_server(("127.0.0.1", 0)) as listener:

        def serve() -> None:
            connection, _ = listener.accept()
            with connection:
                while b"}" not in connection.recv(1 << 16):
                    pass
                connection.sendall(parts[0])
                with suppress(OSError):
                    for part in parts[1:]:
                        go_on.wait(10)
                        connection.sendall(part)

        thread = Thread(target=serve)
        thread.start()
        yield f"http://127.0.0.1:{listener.getsockname()[1]}"
        go_on.set()
        thread.join()


HEAD = b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n"


@contextmanager
def lent_by(*parts: bytes, go_on: Event, provider: ModelApi = ANTHROPIC) -> Iterator[Lease]:
    """What a trial was lent to ask such a provider."""
    with (
        raw_provider(*parts, go_on=go_on) as url,
        ModelProxy() as model_proxy,
        model_proxy.lent(provider, KeyAccess(KEY), url) as lease,
    ):
        yield lease


def test_a_stream_is_passed_on_as_it_comes() -> None:
    """The second part is only sent when the first has arrived."""
    go_on = Event()
    with lent_by(HEAD + b"\r\ndata: 1\n\n", b"data: 2\n\n", go_on=go_on) as lease, client(lease) as connection:
        answer = posted(connection, lease)
        assert answer.read1() == b"data: 1\n\n"
        go_on.set()
        assert answer.read() == b"data: 2\n\n"


def test_a_stream_that_breaks_off_is_no_whole_answer() -> None:
    with (
        lent_by(HEAD + b"content-length: 100\r\n\r\ndata: 1\n\n", go_on=Event()) as lease,
        pytest.raises(IncompleteRead),
    ):
        ask(lease)


def test_an_agent_that_leaves_at_an_error_s_first_line_ends_with_an_outage() -> None:
    """The rest of the provider's answer is not needed to know that it failed."""
    first_line = b"HTTP/1.1 503 Busy\r\ncontent-length: 2\r\n\r\n"
    with lent_by(first_line, b"{}", go_on=Event()) as lease, client(lease) as connection:
        assert posted(connection, lease).status == 503
        assert told(lease).end == "outage"


def test_an_address_that_is_none_is_said() -> None:
    with (
        ModelProxy() as model_proxy,
        pytest.raises(ConfigurationError, match="ANTHROPIC_BASE_URL is not an address: api"),
    ):
        model_proxy.lent(ANTHROPIC, KeyAccess(KEY), "api.anthropic.com").__enter__()


def test_it_counts_the_tokens_of_whole_and_of_streamed_answers() -> None:
    """The scripted model's: 100 plain, 50 written to the cache, 20 said; each way the same."""
    with lent() as (_, lease):
        assert lease.traffic.told() is None
        ask(lease)
        once = told(lease)
        ask(lease, body={**QUESTION, "stream": True})
        twice = told(lease)
    assert (once.end, once.tokens_in, once.tokens_out, once.tokens_cache_write) == ("killed", 150, 20, 50)
    assert (twice.tokens_in, twice.tokens_out, twice.tokens_cache_write) == (300, 40, 100)


@pytest.mark.parametrize(("provider", "path"), [(OPENAI, "/responses"), (GOOGLE, "/v1beta/models/m:generateContent")])
def test_every_providers_tokens_are_counted(provider: Any, path: str) -> None:
    with (
        serving([Step("Well.")]) as server,
        ModelProxy() as model_proxy,
        model_proxy.lent(provider, KeyAccess(KEY), server.url) as lease,
    ):
        ask(lease, path)
        assert (told(lease).tokens_in, told(lease).tokens_out) == (100, 20)


@pytest.mark.parametrize(
    ("status", "end"),
    [
        *((401, "auth"), (429, "outage"), (500, "outage"), (529, "outage")),
        *((400, "refused_request"), (413, "refused_request")),  # the request has brought it about
    ],
)
def test_it_knows_when_the_agent_gets_no_answers(status: int, end: str) -> None:
    with lent(Fault(status, headers=TOMORROW)) as (_, lease):
        assert ask(lease)[0] == status
        failed = told(lease)
        ask(lease)
        answered = told(lease)
    assert (failed.end, failed.message) == (end, f"the model's provider answered {status}: scripted {status}")
    assert (answered.end, answered.message) == ("killed", "")


def test_an_agent_that_hangs_up_is_not_the_providers_failure() -> None:
    go_on = Event()
    with lent_by(HEAD + b"\r\ndata: 1\n\n", *(1 << 20) * [b"data: 2\n\n"], go_on=go_on) as lease:
        place = urlsplit(lease.address)
        with socket.create_connection((str(place.hostname), int(place.port or 0))) as agent:
            request = f"POST /v1/messages HTTP/1.1\r\nx-api-key: {lease.token}\r\ncontent-length: 2\r\n\r\n{{}}"
            agent.sendall(request.encode())
            assert agent.recv(10)
        go_on.set()
        deadline = time.monotonic() + 60
        while lease.traffic.told() is None and time.monotonic() < deadline:
            time.sleep(0.01)
        assert told(lease).end == "killed"


@contextmanager
def connected(lease: Lease) -> Iterator[socket.socket]:
    """A connection to the proxy, as any process of the machine can make one."""
    place = urlsplit(lease.address)
    with socket.create_connection((str(place.hostname), place.port or 0), timeout=30) as connection:
        yield connection


def resident() -> int:
    """Bytes that this process, and with it the proxy, holds in memory."""
    return int(Path("/proc/self/statm").read_text().split()[1]) * 4096


def test_a_body_without_a_token_is_not_read() -> None:
    """14 connections with large bodies took 921 MB."""
    with lent() as (_, lease), ExitStack() as opened:
        before = resident()
        head = b"POST /v1/messages HTTP/1.1\r\nHost: x\r\nContent-Length: %d\r\n\r\n" % (30 << 20)
        answers = []
        for _ in range(14):
            connection = opened.enter_context(connected(lease))
            with suppress(OSError):
                connection.sendall(head)
                for _ in range(30):
                    connection.sendall(bytes(1 << 20))
            with suppress(OSError):
                answers.append(connection.recv(100))
        assert resident() - before < 50 << 20
    assert all(answer.startswith(b"HTTP/1.1 401") for answer in answers if answer)


def test_headers_without_a_token_are_bounded() -> None:
    with lent() as (_, lease), connected(lease) as connection:
        connection.sendall(b"GET /v1/models HTTP/1.1\r\n")
        with suppress(OSError):
            for number in range(60):
                connection.sendall(b"x-%d: %s\r\n" % (number, bytes(60_000).replace(b"\0", b"a")))
        with suppress(OSError):
            assert connection.recv(100)[:12] in (b"HTTP/1.1 431", b"")


def test_silent_connections_do_not_keep_an_agent_from_its_model() -> None:
    with lent() as (_, lease), ExitStack() as opened:
        for _ in range(MOST_CONNECTIONS + 20):
            opened.enter_context(connected(lease))
        assert ask(lease)[0] == 200


def test_a_trial_may_have_only_so_many_connections() -> None:
    with lent() as (_, lease), ExitStack() as opened:
        answers = []
        for _ in range(MOST_OF_ONE_TRIAL + 1):
            connection = opened.enter_context(connected(lease))
            connection.sendall(b"GET /v1/files HTTP/1.1\r\nHost: x\r\nx-api-key: %s\r\n\r\n" % lease.token.encode())
            answers.append(connection.recv(100)[:12])
    assert answers == [b"HTTP/1.1 404"] * MOST_OF_ONE_TRIAL + [b"HTTP/1.1 503"]


def test_what_one_trial_has_read_at_once_is_bounded() -> None:
    """Two requests of 30 MB are under way; the third one is refused, and no outage of the provider."""
    with lent() as (server, lease), ExitStack() as opened:
        head = b"POST /v1/messages HTTP/1.1\r\nHost: x\r\nx-api-key: %s\r\nContent-Length: %d\r\n\r\n"
        for _ in range(2):
            connection = opened.enter_context(connected(lease))
            connection.sendall(head % (lease.token.encode(), 30 << 20))
        time.sleep(0.5)
        third = opened.enter_context(connected(lease))
        third.sendall(head % (lease.token.encode(), 30 << 20))
        assert third.recv(100)[:12] == b"HTTP/1.1 413"
        assert told(lease).end == "refused_request"
        assert server.requests == []


def test_a_chunked_body_that_breaks_off_ends_its_thread() -> None:
    with lent() as (_, lease), connected(lease) as connection:
        head = b"POST /v1/messages HTTP/1.1\r\nHost: x\r\nx-api-key: %s\r\nTransfer-Encoding: chunked\r\n\r\n"
        connection.sendall(head % lease.token.encode() + b"5\r\nhello")
        connection.shutdown(socket.SHUT_WR)
        assert connection.recv(100)[:12] == b"HTTP/1.1 413"


@pytest.mark.parametrize(
    "request_line",
    [b"GET /v1/models?a=\x01 HTTP/1.1\r\n", b"GET /v1/models HTTP/1.1\r\nx-a: \x02\r\n"],
)
def test_a_request_with_a_control_character_is_no_outage(request_line: bytes) -> None:
    with lent() as (server, lease), connected(lease) as connection:
        connection.sendall(request_line + b"Host: x\r\nx-api-key: %s\r\n\r\n" % lease.token.encode())
        assert connection.recv(100)[:12] == b"HTTP/1.1 400"
        assert told(lease).end == "refused_request"
        assert server.requests == []
