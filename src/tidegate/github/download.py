"""Downloads an artifact's archive. GitHub redirects to another host, which must not get our token."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tidegate.github.port import PublishError

if TYPE_CHECKING:
    from github.Requester import Requester

CHUNK = 64 * 1024
REDIRECTS = frozenset({301, 302, 303, 307, 308})


def download(requester: Requester, address: str, most: int, timeout: int) -> bytes:
    """Return the archive. Raises PublishError after `most` bytes, whatever size was announced."""
    import requests

    status, headers, body = requester.requestJson("GET", address)
    if status not in REDIRECTS:
        requester.requestJsonAndCheck("GET", address)  # the library's own error for the same answer
        raise PublishError("outage", f"GitHub answered {status} where the archive's place should stand: {body[:80]!r}")
    with requests.get(headers["location"], timeout=timeout, stream=True) as answer:
        answer.raise_for_status()
        found = bytearray()
        for chunk in answer.iter_content(CHUNK):
            found += chunk
            if len(found) > most:
                raise PublishError("invalid", f"the archive has more than {most} bytes")
    return bytes(found)
