"""Which trials are measured at once, and not in a thread."""

from __future__ import annotations

import asyncio
import threading

import pytest

from tests import make
from tidegate.checks.gates.command_gate import CommandSucceeds
from tidegate.checks.gates.text_gates import FileContains, FileMatches
from tidegate.model.event import CommandResult, Invocation, ToolCall, ToolResult
from tidegate.model.gate import Gate
from tidegate.model.measurement import TrialResult
from tidegate.model.plan import PlanRow, RowKey
from tidegate.model.probe import CommandAnswer, FileAnswer
from tidegate.model.trial import Step, Trial
from tidegate.run.measuring import MOST_EVENTS, MOST_TEXT, Measuring, is_quick

CONTAINS, SUCCEEDS = FileContains(path="a", substring="x"), CommandSucceeds(command="true")
LONG = "x" * MOST_TEXT
EVENTS = (ToolCall(id="1", tool="shell", command="tool"), ToolResult(id="1", status="ok", output="done"))


def exited(**fields: str) -> CommandResult:
    return CommandResult(command="x", end="exited", exit_code=0, **fields)


def trial(**fields: object) -> Trial:
    return Trial.model_validate({"spec": make.spec(), "events": EVENTS, **fields})


def quick(one: Trial, *gates: Gate) -> bool:
    return is_quick(one, make.scenario(gates=gates))


@pytest.mark.parametrize(("gate", "threads"), [(CONTAINS, 0), (FileMatches(path="a", pattern="x"), 1)])
def test_a_trial_is_measured_in_a_thread_unless_it_is_quick(gate: Gate, threads: int) -> None:
    scenario = make.scenario(gates=(gate,))
    row = PlanRow(key=RowKey(scenario="s", agent="docs"), scenario=scenario, agent=make.DOCS, deterministic=True)

    async def measured() -> tuple[TrialResult, int]:
        before = threading.active_count()
        result = await Measuring(make.suite(scenario)).result(
            trial(answers=(FileAnswer(state="present", text="x"),)), row
        )
        return result, threading.active_count() - before

    result, started = asyncio.run(measured())
    assert [gate.passed for gate in result.gates] == [True]
    assert started == threads


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
