"""Which trials are measured at once, and not in a thread."""

from __future__ import annotations

import pytest

from tests import make
from tidegate.gates.command_succeeds import CommandSucceeds
from tidegate.gates.file_contains import FileContains
from tidegate.gates.file_matches import FileMatches
from tidegate.model.command import CommandResult
from tidegate.model.event import ToolCall, ToolResult
from tidegate.model.gate import Gate
from tidegate.model.invocation import Invocation
from tidegate.model.probe import CommandAnswer, FileAnswer
from tidegate.model.trial import Step, Trial
from tidegate.run.measuring import MOST_EVENTS, MOST_TEXT, is_quick

CONTAINS, SUCCEEDS = FileContains(path="a", substring="x"), CommandSucceeds(command="true")
LONG = "x" * MOST_TEXT
EVENTS = (ToolCall(id="1", tool="shell", command="tool"), ToolResult(id="1", status="ok", output="done"))


def exited(**fields: str) -> CommandResult:
    return CommandResult(command="x", end="exited", exit_code=0, **fields)


def trial(**fields: object) -> Trial:
    return Trial.model_validate({"spec": make.spec(), "events": EVENTS, **fields})


def quick(one: Trial, *gates: Gate) -> bool:
    return is_quick(one, make.scenario(gates=gates))


def test_a_trial_with_little_text_and_plain_gates_is_measured_at_once() -> None:
    assert quick(trial(), CONTAINS, SUCCEEDS)


def test_a_gate_with_a_pattern_needs_a_thread() -> None:
    assert not quick(trial(), CONTAINS, FileMatches(path="a", pattern="(x+)+y"))


@pytest.mark.parametrize(
    "fields",
    [
        {"events": (ToolCall(id="1", tool="shell", command=LONG), EVENTS[1])},
        {"events": (EVENTS[0], ToolResult(id="1", status="ok", output=LONG))},
        {"events": (EVENTS[0],) * (MOST_EVENTS + 1)},
        {"answers": (FileAnswer(state="present", text=f"{LONG}x"),)},
        {"answers": (CommandAnswer(result=exited(stdout=f"{LONG}x")),)},
        {"steps": (Step(kind="setup", result=exited(stderr=f"{LONG}x")),)},
        {"invocations": (Invocation(argv=(f"{LONG}x",), status="ok", started_at=1.0),)},
    ],
)
def test_a_trial_with_much_to_read_needs_a_thread(fields: dict[str, object]) -> None:
    assert not quick(trial(**fields), CONTAINS)
