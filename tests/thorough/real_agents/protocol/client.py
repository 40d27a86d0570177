"""Uses one of everything that a server offers: `python client.py VERSION CARRIER WHERE…`."""

import asyncio
import json
import sys
from typing import Any

import mcp.client.session
from mcp import Client, StdioServerParameters
from mcp.client.sse import sse_client
from mcp.client.stdio import stdio_client
from mcp_types import ElicitResult, PromptReference

version, carrier, *where = sys.argv[1:]
session: Any = mcp.client.session
session.LATEST_HANDSHAKE_VERSION = version


async def agree(context: Any, params: Any) -> ElicitResult:
    return ElicitResult(action="accept", content={"sure": True})


async def tell_progress(progress: float, total: float | None, message: str | None) -> None:
    print("progress", progress, total)


def tell(what: str, result: Any) -> None:
    print(what, json.dumps(result.model_dump(mode="json", by_alias=True, exclude_none=True), sort_keys=True))


async def work() -> None:
    ways: dict[str, Any] = {"stdio": lambda: stdio_client(StdioServerParameters(command=where[0], args=where[1:]))}
    way = {**ways, "sse": lambda: sse_client(where[0]), "http": lambda: where[0]}[carrier]()
    mode = "legacy" if version < "2026" else "auto"
    async with Client(way, mode=mode, elicitation_callback=agree) as client:
        print(client.protocol_version)
        tell("tools", await client.list_tools())
        tell("call", await client.call_tool("add", {"title": "Emma"}))
        tell("refused", await client.call_tool("add", {"title": "refuse"}))
        tell("slow", await client.call_tool("wait", {"seconds": 0.1}, progress_callback=tell_progress))
        try:
            async with asyncio.timeout(0.5):
                await client.call_tool("wait", {"seconds": 20})
        except TimeoutError:
            print("given up")
        if version >= "2025-06":
            tell("asked", await client.call_tool("clear", {}))
        tell("read", await client.read_resource("shelf://items"))
        tell("prompt", await client.get_prompt("greet", {"name": "Ann"}))
        name = PromptReference(type="ref/prompt", name="greet")
        tell("complete", await client.complete(name, {"name": "name", "value": "A"}))
        tell("grow", await client.call_tool("grow", {}))


asyncio.run(work())
