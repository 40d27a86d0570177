"""What is recorded of sessions between the official SDK's client and its server, for each age of the protocol."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest
from mcp import Client, StdioServerParameters
from mcp.client import ClientRequestContext
from mcp.shared.exceptions import MCPError
from mcp_types import ElicitRequestParams, ElicitResult, PromptReference

from tests import sdk_server
from tidegate.model.target import McpServer
from tidegate.trial.mcp import recording
from tidegate.trial.recorder import Stops

Work = Callable[[Client], Awaitable[None]]


async def decline(context: ClientRequestContext, params: ElicitRequestParams) -> ElicitResult:
    return ElicitResult(action="decline")


def session(folder: Path, mode: str, work: Work) -> recording.Conversation:
    """What was recorded while the client did the work."""
    record = folder / "calls"
    record.touch()
    server = McpServer(command=f"exec {sys.executable} {sdk_server.__file__}")
    script = recording.install(folder / "script", server, {"PATH": "/usr/bin:/bin"}, folder, record, folder / "early")

    async def run() -> None:
        started = StdioServerParameters(command=str(script))
        async with Client(started, mode=mode, elicitation_callback=decline) as client:
            await work(client)

    asyncio.run(run())
    return recording.read(record, Stops())


def told(conversation: recording.Conversation) -> list[tuple[str, ...]]:
    return [(*call.argv, call.status) for call in conversation.invocations]


@pytest.mark.parametrize("mode", ["legacy", "auto"])
def test_everything_of_a_session_is_recorded(tmp_path: Path, mode: str) -> None:
    """A call that asks back is one call, one that is given up a timeout, and what the server announces a notice."""

    async def work(client: Client) -> None:
        assert client.protocol_version == ("2025-11-25" if mode == "legacy" else "2026-07-28")
        assert (await client.call_tool("add", {"title": "Emma"})).structured_content == {"items": ["Emma"]}
        assert (await client.call_tool("add", {"title": "refuse"})).is_error
        await client.read_resource("shelf://items")
        with pytest.raises(MCPError):
            await client.read_resource("shelf://nothing")
        await client.get_prompt("greet", {"name": "Ann"})
        await client.complete(PromptReference(name="greet"), {"name": "name", "value": "A"})
        assert (await client.call_tool("clear")).content[0].text == "answered with decline"  # type: ignore[union-attr]
        await client.call_tool("say", {"text": "Error: no disk"})
        with pytest.raises(MCPError):
            await client.call_tool("wait", {"seconds": 60}, read_timeout_seconds=0.5)
        if mode == "legacy":
            await client.call_tool("grow")
            return
        async with client.listen(tools_list_changed=True) as changes:
            await client.call_tool("grow")
            await anext(aiter(changes))

    found = session(tmp_path, mode, work)
    assert told(found) == [
        ("add", '{"title": "Emma"}', "ok"),
        ("add", '{"title": "refuse"}', "error"),
        ("resources/read", "shelf://items", "ok"),
        ("resources/read", "shelf://nothing", "error"),
        ("prompts/get", "greet", '{"name": "Ann"}', "ok"),
        ("completion/complete", "greet", "name=A", "ok"),
        ("clear", "ok"),
        ("say", '{"text": "Error: no disk"}', "ok"),
        ("wait", '{"seconds": 60}', "timeout"),
        ("grow", "ok"),
    ]
    assert (found.opened, [text for _, text in found.notices]) == (
        True,
        ["the server sent notifications/tools/list_changed"],
    )
    assert found.warnings == ("say: the text of a result without an error begins with `Error:`",)


@pytest.mark.parametrize("mode", ["legacy", "auto"])
def test_a_client_that_only_greets_has_no_session(tmp_path: Path, mode: str) -> None:
    """A client of today that only discovers has not accepted anything; one of before says `initialized`."""

    async def work(client: Client) -> None:
        pass

    assert session(tmp_path, mode, work).opened is (mode == "legacy")
