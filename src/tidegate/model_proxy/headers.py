"""HTTP headers that the model proxy forwards, with the real key in place of the token."""

from __future__ import annotations

from collections.abc import Iterable

from tidegate.model_proxy.traffic import Lease

KEY_HEADERS = ("authorization", "x-api-key", "x-goog-api-key")
# These headers belong to a single connection, or the proxy sets them itself.
NOT_PASSED = frozenset(
    (
        *("connection", "content-length", "host", "keep-alive", "proxy-authenticate", "proxy-authorization"),
        *("proxy-connection", "te", "trailer", "transfer-encoding", "upgrade", "expect"),
    )
)


def headers_for(headers: Iterable[tuple[str, str]], lease: Lease) -> dict[str, str]:
    """Return the request's headers for the provider: the trial's token is replaced by the key."""
    passed = {name: value for name, value in headers if name.lower() not in NOT_PASSED}
    keyed = {
        name: value.replace(lease.token, lease.key) if name.lower() in KEY_HEADERS else value
        for name, value in passed.items()
    }
    keyed["Accept-Encoding"] = "identity"  # uncompressed, so that the token counts can be read
    return {**keyed, "Host": lease.upstream.netloc.rpartition("@")[2]}
