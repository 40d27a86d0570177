"""From the model proxy to the providers of models: requests, connections, and answers with their token usage."""

from __future__ import annotations

import base64
import binascii
import http.client
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler
from urllib.parse import SplitResult, unquote, urlsplit
from urllib.request import getproxies, proxy_bypass

from pydantic_core import from_json

from tidegate.agents.model_proxy.token_usage import LONGEST, Answer
from tidegate.agents.model_proxy.traffic import Lease
from tidegate.model.provider import ModelRequest

# These headers belong to a single connection, or the proxy sets them itself.
NOT_PASSED = frozenset(
    (
        *("connection", "content-length", "host", "keep-alive", "proxy-authenticate", "proxy-authorization"),
        *("proxy-connection", "te", "trailer", "transfer-encoding", "upgrade", "expect"),
    )
)


class RefusedError(Exception):
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


TYPE = "application/vnd.amazon.eventstream"
_PRELUDE, _CHECK = 12, 4  # bytes before the headers (two lengths and a checksum), and the checksum at the end


class FramedAnswer(Answer):
    """The tokens of an answer in frames: each has the total length, the length of its headers, and a JSON payload.

    In the payload is the event itself (Converse), or in `bytes` in base64 (InvokeModel).
    """

    _frames: bytes | None = b""

    def feed(self, piece: bytes) -> None:
        """Process the next bytes. What is not in frames is not read any further."""
        if self._frames is None:
            return
        self._frames += piece
        while len(self._frames) >= _PRELUDE:
            whole, headers = (int.from_bytes(self._frames[at : at + 4], "big") for at in (0, 4))
            if not _PRELUDE + headers + _CHECK <= whole <= LONGEST:
                self._frames = None
                return
            if len(self._frames) < whole:
                return
            super().feed(_event(self._frames[_PRELUDE + headers : whole - _CHECK]) + b"\n")
            self._frames = self._frames[whole:]


def _event(payload: bytes) -> bytes:
    """Return the event in a payload, on one line."""
    try:
        data = from_json(payload)
        inner = data.get("bytes") if isinstance(data, dict) else None
        return base64.b64decode(inner) if isinstance(inner, str) else payload.replace(b"\n", b" ")
    except (ValueError, binascii.Error):
        return b""


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
