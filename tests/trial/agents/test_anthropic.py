"""The built-in loop against a scripted model."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.model_server import HALF, Fault, ModelServer, Step, ToolUse, serving
from tidegate.agents.anthropic import SYSTEM, AnthropicAgent
from tidegate.errors import CannotRunError
from tidegate.model.agent import ServerScript, ServerTools, Tool, ToolAnswer
from tidegate.model.event import ApiRetry, CommandResult, End, ToolCall, ToolResult
from tidegate.model.prices import Price

if TYPE_CHECKING:
    from tests.trial.agents.conftest import LocalSession

AGENT = AnthropicAgent(type="anthropic", model="claude-haiku-4-5")
DONE = Step("Done.")
SOON = {"retry-after-ms": "1"}


@contextmanager
def model(session: LocalSession, *steps: Step, faults: tuple[Fault, ...] = ()) -> Iterator[ModelServer]:
    """The scripted model, as the session's."""
    with serving(list(steps), list(faults)) as server:
        session.prompt = "Add milk."
        session.credentials = {"ANTHROPIC_API_KEY": "dummy-key", "ANTHROPIC_BASE_URL": server.url}
        yield server


def run(session: LocalSession, *steps: Step, faults: tuple[Fault, ...] = ()) -> End:
    with model(session, *steps, faults=faults):
        return session.run(AGENT)


def results(session: LocalSession) -> list[tuple[str, int | None]]:
    return [(event.status, event.exit_code) for event in session.events if isinstance(event, ToolResult)]


def test_it_runs_what_the_model_asks_for_until_it_is_done(session: LocalSession) -> None:
    with model(session, Step("I try.", ("taskmgr add",)), Step("So:", ("taskmgr add milk", "pwd")), DONE) as server:
        end = session.run(AGENT)
    assert (end.end, end.turns, end.tokens_in, end.tokens_out) == ("completed", 3, 3 * 150, 60)
    assert (end.tokens_cache_read, end.tokens_cache_write, end.cost_usd) == (100, 50, None)
    assert session.messages == ["I try.", "So:", "Done."]
    assert session.commands == ["taskmgr add", "taskmgr add milk", "pwd"]
    assert session.calls == ["add", "add milk"]
    assert results(session) == [("error", 2), ("ok", 0), ("ok", 0)]
    told = [part for message in server.requests[-1][1]["messages"][1:] for part in message["content"]]
    assert [(part["content"], part["is_error"]) for part in told if part["type"] == "tool_result"][:2] == [
        ("Exit code 2\nadd: no title", True),
        ("1", False),
    ]


def test_the_request_is_cached_and_asks_for_no_beta(session: LocalSession) -> None:
    with model(session, DONE) as server:
        session.run(AGENT)
    ((path, body, headers),) = server.requests
    assert (path, "anthropic-beta" in headers) == ("/v1/messages", False)
    assert body["cache_control"] == {"type": "ephemeral"}
    assert body["tools"] == [{"type": "bash_20250124", "name": "bash"}]


def test_a_commands_shell_sees_no_key(session: LocalSession) -> None:
    run(session, Step("", ("env",)), DONE)
    (result,) = [event for event in session.events if isinstance(event, ToolResult)]
    assert "PATH=" in result.output
    assert "dummy-key" not in result.output


@pytest.mark.parametrize("status", [429, 529, 500, 0, HALF])
def test_what_passes_is_tried_again(session: LocalSession, status: int) -> None:
    end = run(session, Step("", ("pwd",)), DONE, faults=(Fault(status, headers=SOON), Fault(status, headers=SOON)))
    assert end.end == "completed"
    assert len([event for event in session.events if isinstance(event, ApiRetry)]) == 2


@pytest.mark.parametrize(
    ("status", "expected"),
    [*((status, "outage") for status in (429, 529, 500, 0, HALF)), (401, "auth"), (400, "refused_request")],
)
def test_what_does_not_pass_is_the_end_with_a_name(session: LocalSession, status: int, expected: str) -> None:
    end = run(session, Step("", ("pwd",)), faults=(Fault(status, headers=SOON),) * 3)
    assert (end.end, end.turns, session.commands) == (expected, None, [])
    assert "Error" in end.message


@pytest.mark.parametrize(
    ("reason", "expected"),
    [("refusal", "refused"), ("max_tokens", "max_tokens"), ("model_context_window_exceeded", "max_tokens")],
)
def test_other_stop_reasons_are_ends(session: LocalSession, reason: str, expected: str) -> None:
    end = run(session, Step("", ("pwd",)), Step("I can't", stop=reason))
    assert (end.end, end.turns) == (expected, 2)


def test_it_stops_at_the_limit_of_turns(session: LocalSession) -> None:
    session.max_turns = 2
    end = run(session, *(Step("again", ("pwd",)) for _ in range(5)))
    assert (end.end, end.turns, session.commands) == ("max_turns", 2, ["pwd", "pwd"])


def test_it_stops_when_its_money_is_spent(session: LocalSession) -> None:
    """Each turn has 100 tokens of input, 50 from or for the cache, and 20 of output: 100 + 20 × 5 = 200 millionths."""
    session.price = Price(input=1, output=5)
    agent = AnthropicAgent(type="anthropic", model="m", max_usd=0.0006)
    with model(session, *(Step("again", ("pwd",)) for _ in range(9))):
        end = session.run(agent)
    assert (end.end, end.turns, end.message) == ("budget", 3, "it has cost $0.0006 (max_usd)")
    assert session.commands == ["pwd", "pwd"], "what it asked for last is not run any more"


def test_a_call_that_is_no_command_is_invalid(session: LocalSession) -> None:
    run(session, Step("", ("",)), DONE)
    assert results(session) == [("invalid", None)]
    assert [event.tool for event in session.events if isinstance(event, ToolCall)] == ["bash"]


def test_a_servers_tools_are_offered_beside_the_shell(session: LocalSession) -> None:
    session.server = ServerScript("shelf", Path("nowhere"))
    schema = {"type": "object", "properties": {"title": {"type": "string"}}}
    session.tools = ServerTools((Tool("add.book", "Adds.", schema), Tool("bad", "", None)), "Titles are unique.")
    session.answers = [ToolAnswer("ok", "added"), ToolAnswer("error", "needs a title"), ToolAnswer("ok", "x" * 40_000)]
    add, bare = ToolUse("shelf/add_book", {"title": "Emma"}), ToolUse("shelf/add_book", {})
    with model(session, Step("", (add, bare, bare)), Step("", ("pwd", ToolUse("shelf/remove", {}))), DONE) as server:
        assert session.run(AGENT).end == "completed"
    first, *_, last = [body for _, body, _ in server.requests]
    assert first["system"] == f"{SYSTEM}\n\nTitles are unique."
    assert first["tools"] == [
        {"type": "bash_20250124", "name": "bash"},
        {"name": "mcp__shelf__add_book", "description": "Adds.", "input_schema": schema},
    ]
    told = [part for message in last["messages"][1:] for part in message["content"] if part["type"] == "tool_result"]
    assert [(part["content"], part["is_error"]) for part in told[:2]] == [("added", False), ("needs a title", True)]
    assert len(told[2]["content"]) < 30_100
    assert "10000 characters left out" in told[2]["content"]
    assert told[4]["is_error"]
    assert told[4]["content"].endswith("There are: bash, which takes a `command`, mcp__shelf__add_book.")
    assert [call.tool for call in session.events if isinstance(call, ToolCall)][:2] == ["add.book"] * 2
    assert [status for status, _ in results(session)] == ["ok", "error", "ok", "ok", "invalid"]
    assert session.warnings == ["the model is not offered bad: the API does not take such an `inputSchema`"]


def test_what_it_has_used_is_known_when_it_is_stopped_from_outside(session: LocalSession) -> None:
    run(session, Step("", ("pwd",)), DONE)
    assert session.told
    assert (session.told.turns, session.told.tokens_out) == (2, 40)


class NoMachine:
    """A machine without anything."""

    def __init__(self, **credentials: str) -> None:
        self.credentials = credentials
        self.repo = Path()

    def program_words(self, name: str) -> tuple[str, ...] | None:
        raise AssertionError(name)

    async def output(self, command: str) -> CommandResult:
        raise AssertionError(command)


def test_without_a_key_nothing_is_run() -> None:
    with pytest.raises(CannotRunError, match="needs a key in ANTHROPIC_API_KEY"):
        asyncio.run(AGENT.check(NoMachine()))
    assert asyncio.run(AGENT.check(NoMachine(ANTHROPIC_API_KEY="x")))
