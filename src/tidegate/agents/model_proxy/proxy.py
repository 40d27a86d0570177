"""A local model proxy: it holds the API keys and gives each trial a short-lived token instead.

An agent receives the token as its API key and the proxy's loopback address as its provider's address. The proxy
looks up the trial by the token, substitutes the real key, forwards the request, and streams the answer back.
The token is worthless outside of the trial and after it has ended.
"""

from __future__ import annotations

import base64
import http.client
import json
import re
import secrets
import socket
import time
from collections import defaultdict
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from http.server import BaseHTTPRequestHandler
from threading import Thread
from typing import Self
from urllib.parse import SplitResult, unquote, urlsplit
from urllib.request import getproxies, proxy_bypass

from tidegate.agents.model_proxy.answers import FRAMES, MOST_BYTES, Answer, FramedAnswer, error_words, request_letters
from tidegate.agents.model_proxy.asked import NOTHING, Asked, read
from tidegate.agents.model_proxy.connections import HEAD_SECS, LARGEST_REQUEST, Connections, HeadReader, size_of
from tidegate.agents.model_proxy.traffic import REFUSED, Lease, RateLimit, Traffic, TrafficLimits
from tidegate.errors import ConfigurationError
from tidegate.model.provider import KEY_HEADERS, Access, AccessError, ModelApi, ModelRequest

# These headers belong to a single connection, or the proxy sets them itself.
NOT_PASSED = frozenset(
    (
        *("connection", "content-length", "host", "keep-alive", "proxy-authenticate", "proxy-authorization"),
        *("proxy-connection", "te", "trailer", "transfer-encoding", "upgrade", "expect"),
    )
)


class NotPassedError(Exception):
    """The proxy refuses to forward a request; carries the HTTP status and the API error type."""

    def __init__(self, status: int, kind: str, message: str) -> None:
        super().__init__(message)
        self.status = status
        self.kind = kind


def request_for(lease: Lease, asked: BaseHTTPRequestHandler, body: bytes) -> ModelRequest:
    """Return the request for the provider, with a credential in place of the trial's token. Raises AccessError."""
    host = host_of(lease)
    passed = {name.lower(): value for name, value in asked.headers.items() if name.lower() not in NOT_PASSED}
    headers = {**passed, "accept-encoding": "identity", "host": host}  # uncompressed: token counts can be read
    url = f"{lease.upstream.scheme}://{host}{asked.path}"
    return lease.access.authorized(ModelRequest(str(asked.command), url, headers, body))


def host_of(lease: Lease) -> str:
    """Return the host and port of the provider."""
    return lease.upstream.netloc.rpartition("@")[2]


TIMEOUT_SECS = 600.0  # of the provider's silence, as the providers' own clients have it


class UnansweredError(Exception):
    """The provider did not answer. `of_request`: the request itself cannot be sent."""

    def __init__(self, message: str, *, of_request: bool = False) -> None:
        super().__init__(message)
        self.of_request = of_request


@contextmanager
def answered(
    place: SplitResult, method: str, path: str, body: bytes | None, headers: Mapping[str, str]
) -> Iterator[http.client.HTTPResponse]:
    """Send a request, and yield the provider's answer. Raises UnansweredError."""
    try:
        upstream = connection_to(place)
    except ValueError:
        raise UnansweredError("HTTPS_PROXY has to be http://HOST:PORT") from None
    try:
        try:
            upstream.request(method, path, body, headers)
            answer = upstream.getresponse()
        except (OSError, http.client.HTTPException) as error:
            raise UnansweredError(f"the model's provider could not be reached: {type(error).__name__}") from None
        except ValueError:  # not the first: an error of certificates is one too
            raise UnansweredError("the request cannot be passed on as it is", of_request=True) from None
        with answer:  # which may have taken the socket over
            yield answer
    finally:
        upstream.close()


def connection_to(place: SplitResult) -> http.client.HTTPConnection:
    """To the provider; by https through the proxy of HTTPS_PROXY, unless NO_PROXY has the host.

    TLS is the provider's own from end to end: the proxy sees no request. Certificates: SSL_CERT_FILE, SSL_CERT_DIR.
    Raises ValueError for a proxy that is not supported.
    """
    host = str(place.hostname)
    if place.scheme == "http":
        return http.client.HTTPConnection(host, place.port, timeout=TIMEOUT_SECS)
    proxy = getproxies().get("https", "")
    if not proxy or proxy_bypass(place.netloc.rpartition("@")[2]):
        return http.client.HTTPSConnection(host, place.port, timeout=TIMEOUT_SECS)
    through = urlsplit(proxy if "://" in proxy else f"http://{proxy}")
    if through.scheme != "http" or not through.hostname:
        raise ValueError(proxy)
    upstream = http.client.HTTPSConnection(through.hostname, through.port or 80, timeout=TIMEOUT_SECS)
    upstream.set_tunnel(host, place.port or 443, _proxy_login(through))
    return upstream


def _proxy_login(proxy: SplitResult) -> dict[str, str]:
    if proxy.username is None:
        return {}
    login = f"{unquote(proxy.username)}:{unquote(proxy.password or '')}"
    return {"Proxy-Authorization": f"Basic {base64.b64encode(login.encode()).decode()}"}


PIECE = 1 << 16
BACKLOG = 128
_CONTROL = re.compile(r"[^\t -~\xa0-\xff]")
_COUNTING = re.compile(r"count[-_]?tokens", re.IGNORECASE)  # requests that the model does not answer
_DOTS = re.compile(r"(?:^|/)(?:\.|%2e){1,2}(?:/|$)", re.IGNORECASE)


class ModelProxy:
    """The proxy server: it listens on loopback, in threads of this process. A context manager."""

    def __init__(self) -> None:
        self._leases: dict[str, Lease] = {}
        self._limits: dict[tuple[str, Access], RateLimit] = defaultdict(RateLimit)  # by provider and key
        self._listener = socket.create_server(("127.0.0.1", 0), backlog=BACKLOG)
        self.port: int = self._listener.getsockname()[1]
        self._servers: list[tuple[_Server, Thread]] = []

    def __enter__(self) -> Self:
        self.serve(self._listener)
        return self

    def __exit__(self, *_: object) -> None:
        self._leases.clear()
        for server, thread in self._servers:
            server.shutdown()
            server.server_close()
            thread.join()

    def serve(self, listener: socket.socket) -> None:
        """Accept connections of this socket, too: it listens on the same port of another network namespace."""
        server = _Server(listener, _Handler)
        server.leases = self._leases
        thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)
        thread.start()
        self._servers.append((server, thread))

    @contextmanager
    def lent(
        self,
        api: ModelApi,
        access: Access,
        upstream: str,
        limits: TrafficLimits = TrafficLimits(),  # noqa: B008
    ) -> Iterator[Lease]:
        """Yield a token for `access` that is valid inside the block. `upstream` is the provider's URL.

        Raises ConfigurationError if `upstream` is not an HTTP(S) URL.
        """
        place = urlsplit(upstream)
        if place.scheme not in ("http", "https") or not place.hostname:
            raise ConfigurationError(f"{api.endpoint} is not an address: {upstream}", "Write it as https://HOST/PATH.")
        token = f"tidegate-{secrets.token_hex(24)}"
        address = f"http://127.0.0.1:{self.port}{place.path.rstrip('/')}"
        self._leases[token] = lease = Lease(
            token, address, access, api, place, Traffic(limits), self._limits[place.netloc, access]
        )
        try:
            yield lease
        finally:
            del self._leases[token]


def _not_passed(lease: Lease, why: str, status: int = 400, kind: str = "invalid_request_error") -> NotPassedError:
    """Return the error for a request that no provider gets, because of what it asks for, and keep that it was made."""
    lease.traffic.note(REFUSED, why)
    return NotPassedError(status, kind, why)


class _Server(Connections):
    leases: dict[str, Lease]


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    timeout = HEAD_SECS
    server: _Server
    rfile: HeadReader  # type: ignore[assignment]

    def setup(self) -> None:
        """Bound what is read before a token is known."""
        super().setup()
        self.rfile = HeadReader(self.rfile)  # type: ignore[arg-type]

    def handle_one_request(self) -> None:
        """Read and answer the next request of the connection."""
        self.rfile.begin()
        super().handle_one_request()

    def log_message(self, *_: object) -> None:
        """Log nothing to stderr."""

    def do_POST(self) -> None:
        try:
            lease = self._lease()
            self.connection.settimeout(TIMEOUT_SECS)
            with self._body(lease) as body:
                self._check_path(lease)
                self._check_characters(lease)
                asked = self._asked(lease, body)
                with lease.traffic.reserved(asked, lambda: self._is_over(lease)) as why:
                    if why is not None:  # 400, which agents do not send again
                        raise NotPassedError(400, "invalid_request_error", why)
                    self._forward(lease, body)
        except NotPassedError as refused:
            self._refuse(refused)

    do_GET = do_HEAD = do_POST  # noqa: N815

    def _lease(self) -> Lease:
        """Return what the request's token stands for. Nothing of its body is read by then."""
        if self.rfile.is_spent:
            self.close_connection = True
            raise NotPassedError(431, "request_too_large", "the request's headers are too large for the model proxy")
        for name in KEY_HEADERS:
            lease = self.server.leases.get((self.headers.get(name) or "").removeprefix("Bearer ").strip())
            if lease is not None and self.server.admit(self.request, lease.token):
                return lease
            if lease is not None:
                self.close_connection = True
                raise NotPassedError(503, "overloaded_error", "this trial has too many connections to the model proxy")
        self.close_connection = True
        raise NotPassedError(401, "authentication_error", "this token is of no trial that is running")

    def _check_path(self, lease: Lease) -> None:
        """Refuse paths other than model requests: the key may also grant access to files, accounts or keys."""
        path = self.path.partition("?")[0]
        base = lease.upstream.path.rstrip("/")
        asked = path.removeprefix(base)
        known = any(re.fullmatch(pattern, asked) for pattern in lease.api.paths)
        if not path.startswith(base) or _DOTS.search(path) or not known:
            raise NotPassedError(404, "not_found_error", "the model proxy passes on nothing but requests to models")

    def _asked(self, lease: Lease, body: bytes) -> Asked:
        """Return what the request asks of the model. Raises NotPassedError."""
        if self.command != "POST" or _COUNTING.search(self.path):
            return NOTHING
        limits = lease.traffic.limits
        asked = read(body, self.path.partition("?")[0], may_ask=limits.may_ask, may_fetch=limits.may_fetch)
        if asked.refused is not None:
            raise _not_passed(lease, f"the model proxy does not pass on {asked.refused}")
        return asked

    def _is_over(self, lease: Lease) -> bool:
        return lease.token not in self.server.leases

    def _check_characters(self, lease: Lease) -> None:
        """Refuse what no provider would take: it is the request that is wrong, not the provider."""
        values = [text for header in self.headers.items() for text in header]
        if not self.path.isascii() or any(map(_CONTROL.search, (self.path, *values))):
            raise _not_passed(lease, "the request has a control character in its address or its headers")

    @contextmanager
    def _body(self, lease: Lease) -> Iterator[bytes]:
        """The request's body, within what the trial may have read at once."""
        taken = 0
        try:
            body = bytearray()
            for size in self._sizes():
                taken += size
                if taken > LARGEST_REQUEST or not lease.traffic.reserve(size):
                    taken -= size
                    self.close_connection = True
                    raise _not_passed(lease, "the request is too large for the model proxy", 413, "request_too_large")
                body += self.rfile.read(size)
            yield bytes(body)
        finally:
            lease.traffic.reserve(-taken)

    def _sizes(self) -> Iterator[int]:
        """The sizes of the body's parts; after each one the part has to be read."""
        if "chunked" not in (self.headers.get("transfer-encoding") or "").lower():
            yield size_of(self.headers.get("content-length") or "0", 10)
            return
        while size := size_of(self.rfile.readline(100).partition(b";")[0].strip(), 16):
            yield size
            self.rfile.readline(100)
        self.rfile.readline(100)

    def _forward(self, lease: Lease, body: bytes) -> None:
        """Pass the request on when the provider takes requests; again, if it asks for fewer for a while."""
        began, again = time.monotonic(), True
        while again:
            if not lease.waits(began, lambda: self._is_over(lease)):
                self.close_connection = True
                return
            again = self._forward_once(lease, body, began)

    def _forward_once(self, lease: Lease, body: bytes, began: float) -> bool:
        """Pass the request on, and the answer back; return True if it is to be passed on again instead."""
        request = self._authorized(lease, body)
        path = request.url.removeprefix(f"{lease.upstream.scheme}://{host_of(lease)}")
        try:
            with answered(lease.upstream, request.method, path, body or None, request.headers) as answer:
                again = lease.limit.saw(answer.status, answer.headers, began)
                if not again:
                    self._answer(answer, lease.traffic, request_letters(body))
                return again
        except UnansweredError as error:
            if error.of_request:
                raise _not_passed(lease, str(error)) from None
            lease.traffic.note(502)
            raise NotPassedError(502, "api_error", str(error)) from None

    def _authorized(self, lease: Lease, body: bytes) -> ModelRequest:
        try:
            return request_for(lease, self, body)
        except AccessError as error:
            status, kind = (401, "authentication_error") if error.denied else (503, "api_error")
            lease.traffic.note(status, str(error))
            raise NotPassedError(status, kind, str(error)) from None

    def _answer(self, answer: http.client.HTTPResponse, traffic: Traffic, asked: int) -> None:
        if answer.status >= 400:
            traffic.note(answer.status)  # at once: the agent may end before the body has come
        self.send_response(answer.status)
        for name, value in answer.getheaders():
            if name.lower() not in NOT_PASSED:
                self.send_header(name, value)
        if self.command == "HEAD" or answer.status in (204, 304):
            self.end_headers()
            return
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        of_model = answer.status < 400 and self.command == "POST" and not _COUNTING.search(self.path)
        kind = answer.headers.get("content-type") or ""
        counter = FramedAnswer if FRAMES in kind else Answer
        seen = counter(streamed=FRAMES in kind or "event-stream" in kind, asked=asked if of_model else 0)
        if of_model:
            traffic.count(seen)
        start = bytearray()
        whole = self._copy(answer, seen, start)
        seen.close()
        status = answer.status if whole else 502
        words = error_words(bytes(start)) if answer.status >= 400 else ""
        traffic.note(status, f"the model's provider answered {status}: {words}" if words else "")
        if of_model:
            traffic.note_turn()
        with suppress(OSError):
            self._end_body(whole=whole)

    def _copy(self, answer: http.client.HTTPResponse, seen: Answer, start: bytearray) -> bool:
        """Stream the body to the agent, without the final chunk, and keep its start. False: the provider broke off."""
        while True:
            try:
                piece = answer.read1(PIECE)
            except (OSError, http.client.HTTPException):
                return False
            if not piece:
                return not answer.length
            seen.feed(piece)
            start += piece[: MOST_BYTES - len(start)]
            try:
                self.wfile.write(b"%x\r\n%s\r\n" % (len(piece), piece))
            except OSError:  # the agent closed the connection
                self.close_connection = True
                return True

    def _end_body(self, *, whole: bool) -> None:
        """Send the final chunk, or close the connection without it, so that the agent notices the missing data."""
        if whole:
            self.wfile.write(b"0\r\n\r\n")
        else:
            self.close_connection = True
            self.connection.shutdown(socket.SHUT_RDWR)

    def _refuse(self, refused: NotPassedError) -> None:
        error = {"type": "error", "error": {"type": refused.kind, "message": str(refused), "code": refused.status}}
        body = json.dumps(error).encode()
        self.send_response(refused.status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        if self.close_connection:
            self.send_header("Connection", "close")
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)
