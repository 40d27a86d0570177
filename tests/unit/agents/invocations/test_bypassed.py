from __future__ import annotations

import pytest

from tidegate.agents.invocations.from_log import bypassed, never_arrived, with_refused
from tidegate.model.event import CallStatus, Event, Invocation, ToolCall, ToolResult
from tidegate.model.target import Target

TARGET = Target(binary="tool")


def ran(command: str, status: CallStatus = "ok", code: int | None = 0) -> list[Event]:
    return [
        ToolCall(id="1", tool="Bash", command=command, at=2.0),
        ToolResult(id="1", status=status, exit_code=code, at=3.0),
    ]


def recorded(*argvs: str) -> list[Invocation]:
    return [Invocation(argv=tuple(argv.split()), status="ok", started_at=100.0) for argv in argvs]


def unseen(command: str, *argvs: str, status: CallStatus = "ok", code: int | None = 0) -> list[str]:
    found = bypassed(ran(command, status, code), TARGET, recorded(*argvs), 100.0)
    return [f"{' '.join(call.argv)} {call.status} {call.exit_code}" for call in found]


@pytest.mark.parametrize(
    ("command", "argvs"),
    [
        ("tool list", ["list"]),
        ("tool list && tool add a", ["list", "add a"]),
        ("tool list || tool help", ["list"]),  # the second never ran
        ("for i in 1 2; do tool add $i; done", ["add 1", "add 2"]),
        ('tool add "$TITLE"', ["add milk"]),
        ("tool add *.txt", ["add a.txt"]),
        ("/tmp/recorder/bin/tool list", ["list"]),
        ("echo tool", []),
    ],
)
def test_what_the_recorder_saw_is_not_counted_twice(command: str, argvs: list[str]) -> None:
    assert unseen(command, *argvs) == []


def test_a_call_by_a_path_has_the_shells_exit_code_if_it_is_the_whole_command() -> None:
    assert unseen("./tool list", status="error", code=2) == ["list error 2"]
    assert unseen("bin/tool list | head -1") == ["list unknown None"]
    assert unseen("cd x && ./tool add a; ./tool list") == ["add a unknown None", "list ok 0"]


def test_a_record_of_another_time_answers_for_no_call() -> None:
    """The command that the recorder missed, and later a script that made the same call: two, not one."""
    later = [Invocation(argv=("list",), status="ok", started_at=130.0)]
    found = bypassed(ran("tool list", "error", 127), TARGET, later, 100.0)
    assert [(call.argv, call.exit_code) for call in found] == [(("list",), 127)]
    at_once = [event.model_copy(update={"at": 3.0}) for event in ran("tool list")]  # told when it had ended
    assert bypassed(at_once, TARGET, later, 100.0) == ()


def test_a_call_where_path_had_been_reset_is_seen_by_the_log_alone() -> None:
    assert unseen("tool list", status="error", code=127) == ["list error 127"]


@pytest.mark.parametrize("status", ["denied", "invalid", "not_executed"])
def test_what_never_ran_is_no_call(status: CallStatus) -> None:
    assert unseen("./tool list", status=status, code=None) == []


def test_it_says_where_and_when_it_was_seen() -> None:
    (call,) = bypassed(ran("./tool list"), TARGET, [], 100.0)
    assert (call.source, call.started_at) == ("events", 102.0)


def test_a_damaged_command_does_not_raise() -> None:
    assert unseen("./tool 'list") in ([], [" unknown None"])


@pytest.mark.parametrize(
    ("status", "seen"),
    [("invalid", True), ("denied", True), ("not_executed", True), ("ok", False), ("error", False), ("timeout", False)],
)
def test_a_tool_call_that_cannot_have_arrived_is_told_by_the_log(status: CallStatus, seen: bool) -> None:
    events: list[Event] = [
        ToolCall(id="1", tool="mcp__tasks__add", input={"title": "milk"}, at=2.0),
        ToolResult(id="1", status=status, at=3.0),
        ToolCall(id="2", tool="mcp__other__add", at=4.0),
        ToolResult(id="2", status="invalid", at=5.0),
    ]
    found = never_arrived(events, "tasks", 100.0)
    wanted = [(("add", '{"title": "milk"}'), status, 102.0, "events")]
    assert [(c.argv, c.status, c.started_at, c.source) for c in found] == (wanted if seen else [])


def test_a_recorded_call_whose_answer_our_own_client_refused_has_failed() -> None:
    statuses: list[CallStatus] = ["ok", "error", "error", "invalid"]
    events: list[Event] = []
    for number, status in enumerate(statuses):
        given = {"title": "milk"} if number < 2 else {}
        events.append(ToolCall(id=str(number), tool="mcp__tasks__add", input=given))
        events.append(ToolResult(id=str(number), status=status))
    milk, plain = ("add", '{"title": "milk"}'), ("add",)
    recorded = [
        Invocation(argv=argv, status=status, started_at=1.0) for argv, status in ((milk, "ok"), (plain, "error"))
    ]
    assert [call.status for call in with_refused(recorded, events, "tasks", 0)] == ["error", "error"]
    both = [*recorded, Invocation(argv=milk, status="ok", started_at=2.0)]
    assert sorted(call.status for call in with_refused(both, events, "tasks", 0)) == ["error", "error", "ok"]


def test_a_call_that_our_own_client_did_not_send_has_failed() -> None:
    events: list[Event] = [
        ToolCall(id="1", tool="mcp__tasks__gone", input={}, at=2.0),
        ToolResult(id="1", status="error"),
    ]
    (call,) = with_refused([], events, "tasks", 10.0)
    assert (call.argv, call.status, call.started_at, call.source) == (("gone",), "error", 12.0, "events")
