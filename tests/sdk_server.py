"""An MCP server by the official SDK that offers one of everything: `python sdk_server.py [CARRIER [PORT [DELAY]]]`.

`guarded PORT [ISSUER]` asks for a key, or for a token of the issuer, by default its own.
"""

import asyncio
import sys
import time
from base64 import b64encode
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Annotated, Any

import uvicorn
from mcp.server.mcpserver import Context, Elicit, ElicitationResult, MCPServer, Resolve
from mcp_types import Completion
from pydantic import BaseModel
from starlette.requests import Request
from starlette.responses import JSONResponse, Response

server = MCPServer("shelf", instructions="Be kind.")
FILE = Path("titles.txt")


def titles() -> list[str]:
    return FILE.read_text().splitlines() if FILE.exists() else []


class Sure(BaseModel):
    sure: bool


class Shelf(BaseModel):
    items: list[str]


@server.tool()
def add(title: str) -> Shelf:
    """Adds a title."""
    if title == "refuse":
        raise ValueError("no such title")
    with FILE.open("a") as file:
        file.write(f"{title}\n")
    return Shelf(items=titles())


@server.tool(structured_output=False)
def say(text: str) -> str:
    """Says it."""
    return text


def ask() -> Elicit[Sure]:
    return Elicit("Are you sure?", Sure)


@server.tool(structured_output=False)
def clear(answer: Annotated[ElicitationResult[Sure], Resolve(ask)]) -> str:
    """Removes all titles, after a question."""
    return f"answered with {answer.action}"


@server.tool(structured_output=False)
async def grow(ctx: Context[Any]) -> str:
    """Says that there are other tools now."""
    await ctx.notify_tools_changed()  # to those that listen, as since 2026-07-28
    await ctx.session.send_tool_list_changed()  # to everyone, as before
    return "grown"


@server.tool(structured_output=False)
async def wait(ctx: Context[Any], seconds: float) -> str:
    """Takes its time."""
    await ctx.report_progress(0, 1)
    await asyncio.sleep(seconds)
    return "waited"


@server.resource("shelf://items", mime_type="application/json")
def items() -> str:
    """All titles."""
    return Shelf(items=titles()).model_dump_json()


@server.resource("shelf://items/{name}")
def item(name: str) -> str:
    """One title."""
    return name.upper()


@server.prompt()
def greet(name: str) -> str:
    """Greets."""
    return f"Hello, {name}!"


@server.completion()  # type: ignore[no-untyped-call, untyped-decorator]
async def complete(ref: Any, argument: Any, context: Any) -> Completion:
    return Completion(values=[f"{argument.value}nna"], has_more=False)


def guarded(port: int, issuer: str) -> Callable[..., Awaitable[None]]:
    """The server over streamable HTTP for those who send the header `X-Key: k3y`, or a token of OAuth."""
    app, place = server.streamable_http_app(), f"http://127.0.0.1:{port}"
    servers = [issuer or place]
    told: dict[str, Any] = {
        "/.well-known/oauth-protected-resource/mcp": {"resource": f"{place}/mcp", "authorization_servers": servers},
        "/.well-known/oauth-authorization-server": {
            "issuer": place,
            "authorization_endpoint": f"{place}/ask",
            "token_endpoint": f"{place}/token",
            "response_types_supported": ["code"],
        },
    }
    metadata = f'Bearer resource_metadata="{place}/.well-known/oauth-protected-resource/mcp"'

    async def guard(scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] != "http":
            await app(scope, receive, send)
            return
        asked = Request(scope, receive)
        sent, path = asked.headers.get("authorization", ""), asked.url.path
        if path in told:
            await JSONResponse(told[path])(scope, receive, send)
        elif path == "/token":
            known = sent == "Basic " + b64encode(b"tester:s3cret").decode()
            answer = {"access_token": "t0ken", "token_type": "Bearer"} if known else {"error": "invalid_client"}
            await JSONResponse(answer, 200 if known else 401)(scope, receive, send)
        elif sent == "Bearer t0ken" or asked.headers.get("x-key") == "k3y":
            await app(scope, receive, send)
        else:
            await Response(status_code=401, headers={"WWW-Authenticate": metadata})(scope, receive, send)

    return guard


if __name__ == "__main__":
    carrier, port = (*sys.argv[1:], "stdio", "0")[:2] if len(sys.argv) < 3 else sys.argv[1:3]
    more = "".join(sys.argv[3:])
    time.sleep(float(more) if more and carrier != "guarded" else 0)
    match carrier:
        case "sse":
            server.run("sse", port=int(port))
        case "streamable-http":
            server.run("streamable-http", port=int(port))
        case "guarded":
            uvicorn.run(guarded(int(port), more), host="127.0.0.1", port=int(port), log_level="warning")
        case _:
            server.run("stdio")
