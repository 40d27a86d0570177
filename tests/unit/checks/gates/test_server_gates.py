"""The gates that ask an MCP server."""

from __future__ import annotations

import pytest
from pydantic import ValidationError

from tidegate.checks.gates.server_gates import McpCall, McpPrompt, McpResource
from tidegate.model.event import CommandResult
from tidegate.model.gate import Gate, GateInput
from tidegate.model.probe import CommandAnswer

ANSWERED = CommandResult(command="", end="exited", exit_code=0, stdout='{"items": ["Emma"]}')
REFUSED = CommandResult(command="", end="exited", exit_code=1, stderr="no such title")
GONE = CommandResult(command="", end="not_started", stderr="the MCP server did not start: exit 1")
LATE = CommandResult(command="", end="timeout", stderr="no answer within 30 s")


@pytest.mark.parametrize(
    ("gate", "passes"),
    [
        (McpResource(uri="shelf://items"), (True, False)),
        (McpResource(uri="shelf://items", substring="Emma"), (True, False)),
        (McpResource(uri="shelf://items", substring="Ulysses"), (False, False)),
        (McpPrompt(name="greet", path="$.items[0]", assertion="equals Emma"), (True, False)),
        (McpCall(tool="add", path="$.items", assertion="len == 2"), (False, False)),
        (McpCall(tool="add", input={"title": "refuse"}, must_fail=True), (False, True)),
    ],
)
def test_the_answer_decides_and_a_server_that_is_gone_never_passes(gate: Gate, passes: tuple[bool, bool]) -> None:
    seen = [GateInput(answer=CommandAnswer(result=result)) for result in (ANSWERED, REFUSED, GONE, LATE)]
    assert [gate.decide(one).passed for one in seen] == [*passes, False, False]


def test_an_error_that_is_wanted_has_no_content_to_check() -> None:
    with pytest.raises(ValidationError, match="an error is all that is checked"):
        McpCall(tool="add", must_fail=True, substring="x")


@pytest.mark.parametrize(
    ("text", "passes"),
    [
        ("user: Plan day", True),
        ("assistant: Hello\nuser: Plan day", True),
        ("assistant: x user: Plan day", False),
        ("assistant: x\n  user: Plan day", False),
    ],
)
def test_a_role_is_looked_for_where_a_message_begins(text: str, passes: bool) -> None:
    seen = GateInput(answer=CommandAnswer(result=ANSWERED.model_copy(update={"stdout": text})))
    assert McpPrompt(name="plan", substring="user: Plan day").decide(seen).passed is passes
    assert McpPrompt(name="plan", substring="Plan day").decide(seen).passed
