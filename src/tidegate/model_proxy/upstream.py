"""Connections from the model proxy to the providers of models."""

from __future__ import annotations

import base64
import http.client
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from urllib.parse import SplitResult, unquote, urlsplit
from urllib.request import getproxies, proxy_bypass

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
