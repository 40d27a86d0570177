"""The requests that the model proxy forwards."""

from __future__ import annotations

from http.server import BaseHTTPRequestHandler

from tidegate.model.provider import ModelRequest
from tidegate.model_proxy.traffic import Lease

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
