"""Our own client with a real server under a real supervisor, behind the recorder as in a trial."""

from __future__ import annotations

import asyncio
import json
import sys
import time
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, TypeVar

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests import mcp_server
from tests.trial.test_processes import alive
from tidegate.agents.anthropic import offered
from tidegate.model.agent import ServerTools, ToolAnswer
from tidegate.model.suite import Limits
from tidegate.model.target import McpServer
from tidegate.trial.mcp import mcp_client, recording
from tidegate.trial.mcp.mcp_client import (
    AS_AGENTS,
    MODES,
    McpClient,
    Mode,
    NoAnswerFromServerError,
    connected,
    is_of_others,
)
from tidegate.trial.mcp.server_process import ServerProcess
from tidegate.trial.processes import Command, Supervisor
from tidegate.trial.recorder import Stops
from tidegate.trial.sandbox.supervisor.messages import Ended

T = TypeVar("T")
ENVIRONMENT = {"PATH": "/usr/local/bin:/usr/bin:/bin"}
LIMITS = Limits(output_mb=1)


def with_server(
    folder: Path,
    quirks: str,
    work: Callable[[McpClient, Supervisor], Awaitable[T]],
    secs: float = 30,
    modes: Sequence[Mode] = MODES,
) -> T:
    """What the work has to say of a server with these quirks; `folder / "calls"` is the recorder's file."""

    async def run() -> T:
        record = folder / "calls"
        record.touch()
        server = McpServer(command=f"exec {sys.executable} -IS {mcp_server.__file__} {folder} {quirks}")
        script = recording.install(folder / "script", server, ENVIRONMENT, folder, record, folder / "early")
        command = Command(
            (str(script),), folder, {"AGENTS": "own"}, folder / "out", folder / "server.stderr", limits=LIMITS
        )
        async with (
            await Supervisor.start() as supervisor,
            connected(supervisor, command, folder / "server", secs, modes) as client,
        ):
            return await work(client, supervisor)

    return asyncio.run(run())


def calls(folder: Path, quirks: str, *titles: str | None, secs: float = 20) -> list[ToolAnswer]:
    """The answers to calls of `add` with these titles."""

    async def work(client: McpClient, _: Supervisor) -> list[ToolAnswer]:
        await client.tools()
        return [await client.ask("tool", "add", {"title": title} if title else {}, secs) for title in titles]

    return with_server(folder, quirks, work)


def recorded(folder: Path) -> list[tuple[str, ...]]:
    told = recording.read(folder / "calls", Stops())
    return [(*call.argv, call.status) for call in told.invocations]


def test_calls_are_answered_and_recorded(tmp_path: Path) -> None:
    refused = "the server's answer is not a valid result"
    answers = calls(tmp_path, "", "Emma", None, "refuse", "strange", "structured", "resource", "nothing")
    assert answers == [
        ("ok", "added Emma"),
        ("error", "add: needs a title"),
        ("error", "no"),
        ("ok", "[image image/png]"),
        ("ok", '{"n": 1}'),
        ("invalid", f"{refused}: it has half of a surrogate pair, which is not a character"),
        ("invalid", "the server answered with neither a result nor an error"),
    ]
    assert recorded(tmp_path)[:3] == [
        ("add", '{"title": "Emma"}', "ok"),
        ("add", "error"),
        ("add", '{"title": "refuse"}', "error"),
    ]
    assert (tmp_path / "titles.txt").read_text() == "Emma\n"
    assert (tmp_path / "server.stderr").read_text() == "starting\n"


def test_an_answer_that_is_not_a_tool_result_is_a_failed_call(tmp_path: Path) -> None:
    titles = ["flag 1", "flag true", "both", "no content", "no block", "no text", "no object", "Emma"]
    flag = "`isError` is neither true nor false"
    content = "`content` is not a list of content blocks"
    both, other = "it has both `result` and `error`", "`structuredContent` is not an object"
    named = "the server's answer is not a valid result: "

    answers = calls(tmp_path, "", *titles)
    whys = [flag, flag, both, content, content, content, other]
    assert answers == [*(("invalid", f"{named}{why}") for why in whys), ("ok", "added Emma")]
    assert [status for *_, status in recorded(tmp_path)] == ["error"] * 7 + ["ok"]
    warnings = recording.read(tmp_path / "calls", Stops()).warnings
    assert warnings == tuple(sorted(f"add: {named}{why}" for why in (flag, both, content, other)))


def test_a_structured_answer_without_text_is_noted(tmp_path: Path) -> None:
    async def work(client: McpClient, _: Supervisor) -> list[list[str]]:
        notes = []
        for title in ("Emma", "structured"):
            await client.ask("tool", "add", {"title": title}, 20)
            notes.append([*client.refused])
        return notes

    assert with_server(tmp_path, "", work) == [[], ["the answer of `add` has no text beside its other content"]]


@pytest.mark.parametrize(
    ("quirk", "how"), [("twice", "twice"), ("text_ids", "with an id of another type than the request's")]
)
def test_an_answer_whose_request_is_in_doubt_is_a_fault_of_the_server(tmp_path: Path, quirk: str, how: str) -> None:
    fault = f"the MCP server answered `tools/call` {how}"

    async def work(client: McpClient, _: Supervisor) -> tuple[ToolAnswer, str]:
        answer = await client.ask("tool", "add", {"title": "Emma"}, 20)
        while not client.fault:  # a second answer may arrive after the first was read
            answer = await client.ask("tool", "add", {"title": "Emma"}, 20)
        return answer, client.fault

    assert with_server(tmp_path, quirk, work) == (("invalid", fault), fault)


def test_what_it_offers_is_read_to_the_last_page(tmp_path: Path) -> None:
    async def work(client: McpClient, _: Supervisor) -> ServerTools:
        return await client.tools()

    offered = with_server(tmp_path, "pages", work)
    assert [tool.name for tool in offered.tools] == ["add0", "add1", "add2"]
    assert (offered.tools[0].description, offered.tools[0].schema) == ("add0s it", mcp_server.SCHEMA)
    assert offered.instructions == "Be kind."


@pytest.mark.parametrize("quirk", ["circle", "spiral"])
def test_a_list_without_an_end_is_read_once_and_noted(tmp_path: Path, quirk: str) -> None:
    async def work(client: McpClient, _: Supervisor) -> tuple[int, dict[str, str]]:
        return len((await client.tools()).tools), client.refused

    tools = 2 * (2 if quirk == "circle" else 100)  # of as many pages
    assert with_server(tmp_path, quirk, work) == (tools, {"`tools/list` has no end": ""})


def test_a_list_that_clients_refuse_is_empty_and_noted(tmp_path: Path) -> None:
    async def work(client: McpClient, _: Supervisor) -> tuple[object, list[str]]:
        return (await client.interface())["resources"], list(client.refused)

    lists = ("resources/list", "resources/templates/list")
    assert with_server(tmp_path, "shapeless", work) == ([], [f"clients refuse the answer to `{one}`" for one in lists])


def test_an_input_that_the_listed_schema_does_not_allow_is_noted(tmp_path: Path) -> None:
    async def work(client: McpClient, _: Supervisor) -> list[str]:
        assert (await client.lists("tool", "add"), await client.lists("tool", "gone")) == (True, False)
        for sent in ({"title": "Emma"}, {"title": 5}, {"author": "Jane"}):
            client.compare("tool", "add", sent)
        return list(client.refused.values())

    unexpected = "$: Additional properties are not allowed ('author' was unexpected)"
    assert with_server(tmp_path, "", work) == ["$.title: 5 is not of type 'string'", unexpected]


def test_what_is_not_listed_is_noted_and_a_template_lists_all_its_uris(tmp_path: Path) -> None:
    async def work(client: McpClient, _: Supervisor) -> list[str]:
        for what, name, sent in (
            ("resource", "titles://all", {}),
            ("resource", "titles://1/text", {}),
            ("resource", "titles://1", {}),
            ("prompt", "plan", {"topic": "week"}),
            ("prompt", "plan", {}),
            ("prompt", "gone", {}),
        ):
            await client.lists(what, name)  # type: ignore[arg-type]
            client.compare(what, name, sent)  # type: ignore[arg-type]
        return list(client.faults())

    assert with_server(tmp_path, "parts", work) == [
        "the server does not list the resource `titles://1`",
        "what lists the prompt `plan` does not allow the input {}",
        "the server does not list the prompt `gone`",
    ]


def test_a_list_is_read_again_once_the_server_says_that_it_has_changed(tmp_path: Path) -> None:
    async def work(client: McpClient, _: Supervisor) -> list[bool]:
        before = await client.lists("tool", "where")
        await client.ask("tool", "add", {"title": "withdraw"}, 20)
        return [before, await client.lists("tool", "where")]

    assert with_server(tmp_path, "", work) == [True, False]


def test_it_has_the_trials_environment_and_not_the_agents(tmp_path: Path) -> None:
    async def work(client: McpClient, _: Supervisor) -> ToolAnswer:
        return await client.ask("tool", "where", {}, 20)

    status, said = with_server(tmp_path, "", work)
    assert (status, said.split()[0]) == ("ok", str(tmp_path))
    assert "'PATH'" in said
    assert "AGENTS" not in said


def test_lines_that_are_no_answer_are_passed_over(tmp_path: Path) -> None:
    assert calls(tmp_path, "noisy", "Emma", "Ulysses") == [("ok", "added Emma"), ("ok", "added Ulysses")]


def test_its_own_requests_are_answered(tmp_path: Path) -> None:
    ((status, said),) = calls(tmp_path, "", "ask")
    assert status == "ok"
    assert '"result": {}' in said
    assert '"error"' in said


def test_requests_without_end_are_not_all_answered(tmp_path: Path) -> None:
    """Replies that nobody reads would pile up."""
    assert calls(tmp_path, "", "pester", secs=60) == [("ok", "are you there?")]


def test_a_huge_answer_is_an_error_and_the_next_one_is_read(tmp_path: Path) -> None:
    answers = calls(tmp_path, "", "huge", "Emma")
    assert answers == [("error", "the server's answer is too long to be read"), ("ok", "added Emma")]


def test_a_late_answer_is_a_timeout(tmp_path: Path) -> None:
    assert calls(tmp_path, "", "sleep", secs=0.3) == [("timeout", "no answer within 0.3 s")]
    assert recorded(tmp_path) == [("add", '{"title": "sleep"}', "timeout")]


def test_a_server_that_dies_is_an_answer(tmp_path: Path) -> None:
    answers = calls(tmp_path, "", "Emma", "die", "Ulysses")
    gone = "the server has ended: exit 3"
    assert answers == [("ok", "added Emma"), ("unfinished", gone), ("not_executed", gone)]
    assert [status for *_, status in recorded(tmp_path)] == ["ok", "error"]


@pytest.mark.parametrize(
    ("quirks", "secs", "why"),
    [("broken", 20, "the server has ended: exit 1"), ("mute", 0.5, "no answer within 0.5 s")],
)
def test_a_server_that_does_not_start_is_said(tmp_path: Path, quirks: str, secs: float, why: str) -> None:
    async def work(client: McpClient, _: Supervisor) -> None:
        await client.tools()

    with pytest.raises(NoAnswerFromServerError) as caught:
        with_server(tmp_path, quirks, work, secs)
    assert caught.value.why == why


@pytest.mark.parametrize(
    ("modes", "notes"), [(MODES, []), (AS_AGENTS, ["it opens no session that begins with `initialize`"])]
)
def test_a_server_whose_first_answer_is_an_error_opens_no_session_of_agents(
    tmp_path: Path, modes: Sequence[Mode], notes: list[str]
) -> None:
    async def work(client: McpClient, _: Supervisor) -> list[str]:
        return [*client.refused]

    assert with_server(tmp_path, "late", work, modes=modes) == notes


def test_a_server_that_refuses_what_comes_before_initialize_is_started_again(tmp_path: Path) -> None:
    assert calls(tmp_path, "strict", "Emma") == [("ok", "added Emma")]
    assert (tmp_path / "server.stderr").read_text() == "starting\n", "that of the second start"


@pytest.mark.parametrize("quirks", ["", "stubborn"])
def test_nothing_of_it_is_left(tmp_path: Path, quirks: str) -> None:
    async def work(client: McpClient, _: Supervisor) -> list[int]:
        return alive(tmp_path)

    began = time.monotonic()
    running = with_server(tmp_path, quirks, work)
    assert len(running) >= (2 if quirks else 1)
    assert alive(tmp_path) == []
    assert time.monotonic() - began < 120


def test_commands_run_beside_it_and_end_without_it(tmp_path: Path) -> None:
    async def work(client: McpClient, supervisor: Supervisor) -> tuple[str | None, ToolAnswer]:
        command = Command(
            ("sh", "-c", "sleep 60 & exit 4"), tmp_path, ENVIRONMENT, stdout=tmp_path / "o", stderr=tmp_path / "e"
        )
        ended = await supervisor.run(command)
        return f"{ended.exit_code} {len(ended.killed)}", await client.ask("tool", "add", {"title": "Emma"}, 20)

    assert with_server(tmp_path, "", work) == ("4 1", ("ok", "added Emma"))


def test_a_server_that_does_not_read_keeps_nobody_waiting(tmp_path: Path) -> None:
    answers = calls(tmp_path, "", "sleep", "x" * 1_000_000, "Emma", secs=0.5)
    assert [status for status, _ in answers] == ["timeout"] * 3


def test_what_is_said_at_once_arrives_in_order(tmp_path: Path) -> None:
    """More than a FIFO holds, to a server that answers each line in its own time."""

    async def work(client: McpClient, _: Supervisor) -> list[ToolAnswer]:
        return [await client.ask("tool", "add", {"title": letter * 300_000}, 20) for letter in "ab"]

    answers = with_server(tmp_path, "", work)
    assert [said for _, said in answers] == [f"added {letter * 300_000}" for letter in "ab"]


ODD: Any = st.sampled_from(["add", "", "a b", "\ud800", "x" * 200, "object", None, 7, float("nan"), [], {}, ["\ud800"]])
SCHEMAS = st.fixed_dictionaries({"type": st.just("object"), "properties": ODD, "x": ODD}) | ODD
TOOLS = st.lists(st.fixed_dictionaries({"name": ODD, "description": ODD, "inputSchema": SCHEMAS}) | ODD, max_size=3)
PARTS = st.fixed_dictionaries({"type": ODD, "text": ODD, "uri": ODD}) | st.fixed_dictionaries({"resource": ODD}) | ODD
RESULTS = st.fixed_dictionaries(
    {"tools": TOOLS | ODD, "content": st.lists(PARTS, max_size=3) | ODD, "structuredContent": ODD, "instructions": ODD}
)


SOON = 0.3  # seconds: what no client reads is not an answer, and is waited for in vain


class Answering(ServerProcess):
    """Greets as an older server does, and answers each later request with the next result."""

    def __init__(self, results: list[Any]) -> None:
        running: asyncio.Future[Ended] = asyncio.get_running_loop().create_future()
        running.set_result(Ended("exited", 0, None, None, 0, "", None))
        self.said = asyncio.StreamReader()
        super().__init__(running, -1, self.said)
        self.results = results

    def say(self, line: bytes) -> None:
        asked = json.loads(line)
        if "id" not in asked or "method" not in asked:
            return
        who = {"protocolVersion": "2025-06-18", "capabilities": {}, "serverInfo": {"name": "x", "version": "1"}}
        result = who if asked["method"] == "initialize" else self.results.pop(0) if self.results else None
        answer = (
            {"error": {"code": -32601, "message": "no"}} if asked["method"] == "server/discover" else {"result": result}
        )
        self.said.feed_data(json.dumps({"jsonrpc": "2.0", "id": asked["id"], **answer}).encode() + b"\n")


@given(st.lists(RESULTS | RESULTS | ODD, min_size=3, max_size=3))
def test_whatever_a_server_answers_can_be_told_and_offered(results: list[Any]) -> None:
    async def told() -> tuple[ServerTools | None, ToolAnswer]:
        client = McpClient(Answering(results))
        running = asyncio.ensure_future(client.keep_open("auto"))
        await client.opened()
        tools = None
        with suppress(NoAnswerFromServerError):
            tools = await client.tools()
        answer = await client.ask("tool", "add", {}, SOON)
        client.closing.set()
        await running
        return tools, answer

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(mcp_client, "START_SECS", SOON)
        tools, (_, text) = asyncio.run(told())
    text.encode()
    if tools is not None:
        offer = offered("shelf", tools.tools)
        json.dumps([offer.definitions, tools.instructions], allow_nan=False, ensure_ascii=False).encode()


@pytest.mark.parametrize(
    ("contents", "others"),
    [
        ([{"uri": "notes://a"}], False),
        ([{"uri": "notes://a/1"}, {"uri": "notes://a/2"}], False),
        ([{"uri": "notes://a"}, {"uri": "notes://b"}], True),
        ([{"uri": None}, "x"], False),
        (None, False),
    ],
)
def test_contents_of_a_resource_have_its_address_or_one_below_it(contents: object, *, others: bool) -> None:
    assert is_of_others({"contents": contents}, "notes://a/") is others
