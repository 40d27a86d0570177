from __future__ import annotations

from tidegate.model.event import ApiRetry, End, Event, Message, ToolCall, ToolResult, Warning
from tidegate.model.measurement import Call
from tidegate.reports.transcript import TranscriptStep, steps

CALL = Call(command="taskmgr add x", exit_code=2, status="error", message="no such option")


def test_a_call_stands_with_its_answer() -> None:
    events = (
        ToolCall(id="1", tool="shell", command="taskmgr list", at=0.5),
        ToolCall(id="2", tool="shell", command="taskmgr add x", at=0.6),
        ToolResult(id="2", status="error", exit_code=2, output="no such option"),
        ToolResult(id="1", status="ok", exit_code=0, output="none"),
    )
    assert steps(events, ()) == (
        TranscriptStep(kind="call", at=0.5, title="$ taskmgr list", ended="exit 0", ok=True, text="none"),
        TranscriptStep(kind="call", at=0.6, title="$ taskmgr add x", ended="exit 2", ok=False, text="no such option"),
    )


def test_a_call_without_an_answer_has_not_succeeded() -> None:
    (step,) = steps((ToolCall(id="1", tool="write", input={"path": "ä"}),), ())
    assert (step.title, step.ended, step.ok) == ('write {"path": "ä"}', "no answer", None)


def test_an_agent_that_keeps_no_record_is_told_by_the_recorder() -> None:
    """Its calls of the target, before its end."""
    told = steps((Message(text="hello"), End(end="timeout")), (CALL,))
    assert [step.title for step in told] == ["agent", "$ taskmgr add x", "the agent ended: timeout"]
    assert told[1] == TranscriptStep(
        kind="call", title="$ taskmgr add x", ended="exit 2", ok=False, text="no such option", calls=(1,)
    )
    assert told[2].ok is False


def test_a_step_has_the_numbers_of_its_calls_of_the_tool() -> None:
    """These are the step numbers of the comment. However the agent quotes, and with other commands in between."""
    add, listed = Call(command="notes add 'a b'", status="ok"), Call(command="notes list", status="ok")
    found = steps(
        (
            ToolCall(id="1", tool="shell", command="cat README.md", at=1),
            ToolCall(id="2", tool="shell", command='notes add "a b" && notes list', at=2),
            ToolResult(id="2", status="ok", exit_code=0, at=3.5),
            ToolCall(id="3", tool="shell", command="notes list", at=4),
        ),
        (add, listed, listed),
    )
    assert [step.calls for step in found] == [(), (1, 2), (3,)]


def test_every_event_is_told() -> None:
    events: tuple[Event, ...] = (
        Message(role="user", text="do it"),
        ApiRetry(text="529"),
        Warning(text="a line was skipped"),
    )
    assert [(step.kind, step.title, step.text) for step in steps(events, ())] == [
        ("message", "user", "do it"),
        ("note", "the model was asked again", "529"),
        ("note", "warning", "a line was skipped"),
    ]
