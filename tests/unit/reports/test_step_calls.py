"""Which recorded calls of the tool under test a call of the agent makes."""

from __future__ import annotations

from tidegate.model.event import ToolCall
from tidegate.model.measurement import Call
from tidegate.reports.transcript import take


def test_a_call_of_an_mcp_server_is_found_by_its_tool_and_its_input() -> None:
    add = Call(command="""notes add_note '{"title": "a b"}'""", status="ok")
    left = {1: Call(command="notes list_notes", status="ok"), 2: add}
    assert take(ToolCall(id="1", tool="mcp__notes__add_note", input={"title": "a b"}), left) == {2: add}
    assert list(left) == [1], "it is found once"
    assert take(ToolCall(id="2", tool="mcp__notes__add_note", input={"title": "a b"}), left) == {}


def test_a_command_that_does_not_call_the_tool_makes_no_step() -> None:
    left = {1: Call(command="notes list", status="ok")}
    assert take(ToolCall(id="1", tool="shell", command="echo notes list"), left) == {}
    assert list(left) == [1]
