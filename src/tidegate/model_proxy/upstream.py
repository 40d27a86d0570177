"""Connections from the model proxy to the providers of models."""

from __future__ import annotations

import base64
import http.client
from urllib.parse import SplitResult, unquote, urlsplit
from urllib.request import getproxies, proxy_bypass

TIMEOUT_SECS = 600.0  # of the provider's silence, as the providers' own clients have it


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
