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
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Lock, Thread
from typing import NamedTuple, Self
from urllib.parse import SplitResult, unquote, urlsplit
from urllib.request import getproxies, proxy_bypass

from tidegate.errors import ConfigurationError
from tidegate.model.agent import Provider
from tidegate.model.event import End
from tidegate.model_proxy.token_usage import Answer, Tokens
from tidegate.streams.json_lines import end_of_api

TIMEOUT_SECS = 600.0  # without data from the provider; the providers' own clients use the same limit
LARGEST_REQUEST = 64 << 20  # bytes
PIECE = 1 << 16
_KEY_HEADERS = ("authorization", "x-api-key", "x-goog-api-key")
# These headers belong to a single connection, or the proxy sets them itself.
_NOT_PASSED = frozenset(
    (
        *("connection", "content-length", "host", "keep-alive", "proxy-authenticate", "proxy-authorization"),
        *("proxy-connection", "te", "trailer", "transfer-encoding", "upgrade", "expect"),
    )
)
_DOTS = re.compile(r"(?:^|/)(?:\.|%2e){1,2}(?:/|$)", re.IGNORECASE)


class Traffic:
    """Counts the provider's answers for one trial. Thread-safe: each request is served in its own thread."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._answers = 0
        self._tokens = Tokens()
        self._failure: int | None = None  # status of the last answer if it was an error

    def note(self, status: int, tokens: Tokens) -> None:
        """Record one answer: its HTTP status and the tokens that it used."""
        with self._lock:
            self._answers += 1
            self._tokens = self._tokens.plus(tokens)
            self._failure = status if status in (401, 403, 408, 429) or status >= 500 else None

    def told(self) -> End | None:
        """Return how the trial would end now, as the proxy sees it, with token counts; None before the first answer."""
        with self._lock:
            if not self._answers:
                return None
            given, said, read, written = self._tokens
            return End(
                end="killed" if self._failure is None else end_of_api(self._failure),
                message="" if self._failure is None else f"the model's provider answered {self._failure}",
                tokens_in=given,
                tokens_out=said,
                tokens_cache_read=read,
                tokens_cache_write=written,
            )


class Lease(NamedTuple):
    """The token and address given to one trial, and the key and provider behind them."""

    token: str
    address: str
    key: str
    provider: Provider
    upstream: SplitResult
    traffic: Traffic


class ModelProxy:
    """The proxy server: it listens on loopback, in threads of this process. A context manager."""

    def __init__(self) -> None:
        self._server = _Server(("127.0.0.1", 0), _Handler)
        self._thread = Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.leases.clear()
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    @contextmanager
    def lent(self, provider: Provider, key: str, upstream: str) -> Iterator[Lease]:
        """Yield a token for `key` that is valid inside the block. `upstream` is the provider's URL.

        Raises ConfigurationError if `upstream` is not an HTTP(S) URL.
        """
        place = urlsplit(upstream)
        if place.scheme not in ("http", "https") or not place.hostname:
            raise ConfigurationError(f"{provider.endpoint} is no address: {upstream}", "Write it as https://HOST/PATH.")
        token = f"tidegate-{secrets.token_hex(24)}"
        address = f"http://127.0.0.1:{self._server.server_port}{place.path.rstrip('/')}"
        self._server.leases[token] = lease = Lease(token, address, key, provider, place, Traffic())
        try:
            yield lease
        finally:
            del self._server.leases[token]


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    block_on_close = False

    def __init__(self, address: tuple[str, int], handler: type[BaseHTTPRequestHandler]) -> None:
        super().__init__(address, handler)
        self.leases: dict[str, Lease] = {}

    def handle_error(self, request: object, client_address: object) -> None:
        """Ignore the error: agents may close their connection at any time."""


class _RefusedError(Exception):
    """The proxy refuses to forward a request; carries the HTTP status and the API error type."""

    def __init__(self, status: int, kind: str, message: str) -> None:
        super().__init__(message)
        self.status = status
        self.kind = kind


def _connection(place: SplitResult) -> http.client.HTTPConnection:
    """Return a connection to the provider. HTTPS goes through HTTPS_PROXY unless NO_PROXY lists the host.

    TLS is end to end, so the HTTPS proxy sees no request. SSL_CERT_FILE and SSL_CERT_DIR set the trusted certificates.
    Raises ValueError if HTTPS_PROXY is not an `http://` URL.
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


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    timeout = TIMEOUT_SECS
    server: _Server

    def log_message(self, *_: object) -> None:
        """Log nothing to stderr."""

    def do_GET(self) -> None:
        self._pass_on()

    def do_HEAD(self) -> None:
        self._pass_on()

    def do_POST(self) -> None:
        self._pass_on()

    def _pass_on(self) -> None:
        try:
            body = self._body()
            lease = self._loan()
            self._check_path(lease)
            self._forward(lease, body)
        except _RefusedError as refused:
            self._refuse(refused)

    def _loan(self) -> Lease:
        for name in _KEY_HEADERS:
            lease = self.server.leases.get((self.headers.get(name) or "").removeprefix("Bearer ").strip())
            if lease is not None:
                return lease
        raise _RefusedError(401, "authentication_error", "this token is of no trial that is running")

    def _check_path(self, lease: Lease) -> None:
        """Refuse paths other than model requests: the key may also grant access to files, accounts or keys."""
        path = self.path.partition("?")[0]
        base = lease.upstream.path.rstrip("/")
        asked = path.removeprefix(base)
        known = any(re.fullmatch(pattern, asked) for pattern in lease.provider.paths)
        if not path.startswith(base) or _DOTS.search(path) or not known:
            raise _RefusedError(404, "not_found_error", "the model proxy passes on nothing but requests to models")

    def _body(self) -> bytes:
        if "chunked" in (self.headers.get("transfer-encoding") or "").lower():
            return self._chunks()
        try:
            length = int(self.headers.get("content-length") or 0)
        except ValueError:
            length = -1
        if not 0 <= length <= LARGEST_REQUEST:
            self.close_connection = True
            raise _RefusedError(413, "request_too_large", "the request is too large for the model proxy")
        return self.rfile.read(length)

    def _chunks(self) -> bytes:
        """Read a body in chunked transfer encoding."""
        parts: list[bytes] = []
        size = -1
        while size != 0:
            with suppress(ValueError):
                size = int(self.rfile.readline(100).split(b";")[0], 16)
            if size < 0 or sum(map(len, parts)) + size > LARGEST_REQUEST:
                self.close_connection = True
                raise _RefusedError(413, "request_too_large", "the request is too large for the model proxy")
            parts.append(self.rfile.read(size))
            self.rfile.readline(100)
        return b"".join(parts)

    def _forward(self, lease: Lease, body: bytes) -> None:
        place = lease.upstream
        try:
            upstream = _connection(place)
        except ValueError:
            lease.traffic.note(502, Tokens())
            raise _RefusedError(502, "api_error", "HTTPS_PROXY has to be http://HOST:PORT") from None
        try:
            try:
                upstream.request(self.command, self.path, body or None, self._headers_for(lease))
                answer = upstream.getresponse()
            except (OSError, http.client.HTTPException) as error:
                lease.traffic.note(502, Tokens())
                what = f"the model's provider could not be reached: {type(error).__name__}"
                raise _RefusedError(502, "api_error", what) from None
            with answer:  # the response may own the socket now, so it is closed as well
                self._answer(answer, lease.traffic)
        finally:
            upstream.close()

    def _headers_for(self, lease: Lease) -> dict[str, str]:
        passed = {name: value for name, value in self.headers.items() if name.lower() not in _NOT_PASSED}
        keyed = {
            name: value.replace(lease.token, lease.key) if name.lower() in _KEY_HEADERS else value
            for name, value in passed.items()
        }
        keyed["Accept-Encoding"] = "identity"  # uncompressed, so that the token counts can be read
        return {**keyed, "Host": lease.upstream.netloc.rpartition("@")[2]}

    def _answer(self, answer: http.client.HTTPResponse, traffic: Traffic) -> None:
        self.send_response(answer.status)
        for name, value in answer.getheaders():
            if name.lower() not in _NOT_PASSED:
                self.send_header(name, value)
        if self.command == "HEAD" or answer.status in (204, 304):
            self.end_headers()
            return
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        seen = Answer(streamed="event-stream" in (answer.headers.get("content-type") or ""))
        whole = self._copy(answer, seen)
        seen.close()
        traffic.note(answer.status if whole else 502, seen.tokens)
        with suppress(OSError):
            self._end_body(whole=whole)

    def _copy(self, answer: http.client.HTTPResponse, seen: Answer) -> bool:
        """Stream the body to the agent, without the final chunk. Return False if the provider broke off."""
        while True:
            try:
                piece = answer.read1(PIECE)
            except (OSError, http.client.HTTPException):
                return False
            if not piece:
                return not answer.length
            seen.feed(piece)
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

    def _refuse(self, refused: _RefusedError) -> None:
        error = {"type": "error", "error": {"type": refused.kind, "message": str(refused), "code": refused.status}}
        body = json.dumps(error).encode()
        self.send_response(refused.status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)
