"""An MCP server by the official SDK that offers one of everything: `python sdk_server.py [CARRIER [PORT [DELAY]]]`."""

import asyncio
import sys
import time
from pathlib import Path
from typing import Annotated, Any

from mcp.server.mcpserver import Context, Elicit, ElicitationResult, MCPServer, Resolve
from mcp_types import Completion
from pydantic import BaseModel

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


if __name__ == "__main__":
    carrier, port = (*sys.argv[1:], "stdio", "0")[:2] if len(sys.argv) < 3 else sys.argv[1:3]
    time.sleep(float(sys.argv[3]) if len(sys.argv) > 3 else 0)
    match carrier:
        case "streamable-http":
            server.run("streamable-http", port=int(port))
        case _:
            server.run("stdio")
