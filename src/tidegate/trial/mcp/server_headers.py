"""Tells the recorder of a server with a URL which headers it adds to requests: the suite's, and an OAuth token."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from tidegate.model.target import McpServer

if TYPE_CHECKING:
    from mcp.shared.auth import OAuthClientInformationFull, OAuthToken

    from tidegate.trial.mcp.over_socket import OverSocket


async def give_headers(server: McpServer, socket: Path) -> None:
    """Pass the server's headers to the recorder at this socket. Raises OSError if OAuth gives no token.

    Does nothing if the recorder has ended with the server: whoever opens a session is told so.
    """
    import httpx2  # 200 ms

    from tidegate.trial.mcp.over_socket import OverSocket

    headers = {name.lower(): text for name, text in server.headers.items()}
    if server.oauth is not None and (token := await _token(server, OverSocket(socket))):
        headers["authorization"] = f"Bearer {token}"
    async with httpx2.AsyncClient(transport=OverSocket(socket)) as http:
        with suppress(httpx2.NetworkError, httpx2.ProtocolError):
            await http.put("http://127.0.0.1/", json=headers)


async def _token(server: McpServer, recorder: OverSocket) -> str | None:
    """Return a token from the issuer that the suite names; None if the server asks for none."""
    import httpx2
    from mcp.client.auth import OAuthFlowError
    from mcp.client.auth.extensions.client_credentials import ClientCredentialsOAuthProvider

    assert server.oauth is not None
    kept, known = _Kept(), server.oauth
    auth = ClientCredentialsOAuthProvider(
        server.url, kept, known.client_id, known.client_secret, scope=known.scope, issuer=known.issuer
    )
    ours = {_origin(server.url): recorder} if server.command else {}

    async def check(request: httpx2.Request) -> None:
        """Refuse to read what a server of head names: only the issuer says where tokens are."""
        if request.method == "GET" and _origin(str(request.url)) not in (_origin(server.url), _origin(known.issuer)):
            raise httpx2.RequestError(f"the server names {request.url}, which is not at the issuer")

    hooks = {"request": [check]}
    async with httpx2.AsyncClient(mounts=ours, auth=auth, timeout=TOKEN_SECS, event_hooks=hooks) as http:
        try:
            async with http.stream("GET", server.url, headers={"Accept": "application/json, text/event-stream"}):
                pass  # which makes the server ask
        except (OAuthFlowError, httpx2.HTTPError) as error:
            raise OSError(f"the MCP server's OAuth gave no token: {str(error) or type(error).__name__}") from None
    return kept.tokens.access_token if kept.tokens else None


def _origin(url: str) -> str:
    return "{0.scheme}://{0.netloc}".format(urlsplit(url))


TOKEN_SECS = 30.0  # of each answer on the way to a token


class _Kept:
    """Keeps the token of one server; implements the SDK's TokenStorage."""

    tokens: OAuthToken | None = None

    async def get_tokens(self) -> OAuthToken | None:
        """Return it."""
        return self.tokens

    async def set_tokens(self, tokens: OAuthToken) -> None:
        """Keep it."""
        self.tokens = tokens

    async def get_client_info(self) -> OAuthClientInformationFull | None:
        """Return nothing: the client is known already."""

    async def set_client_info(self, client_info: OAuthClientInformationFull) -> None:
        """Keep nothing."""
