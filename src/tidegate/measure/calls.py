"""The target's calls, as reports show them."""

from __future__ import annotations

import shlex
from collections import defaultdict
from collections.abc import Sequence

from tidegate.gates.excerpt import complaint, excerpt
from tidegate.interaction import failed, in_order
from tidegate.logged_calls import logged_calls, logged_tool_calls
from tidegate.model.event import Event
from tidegate.model.measurement import Call
from tidegate.model.trial import Trial

MAX_CALLS = 200
MAX_MESSAGE = 500  # characters
MAX_ANSWER = 200  # of a call that did not fail


def calls_of(trial: Trial, binary: str) -> tuple[Call, ...]:
    """The first calls in their order, each with what the target said, where that can be told."""
    messages = _messages(trial, binary)
    return tuple(
        Call(
            command=excerpt(shlex.join([binary, *call.argv]), MAX_MESSAGE),
            exit_code=call.exit_code,
            status=call.status,
            message=complaint(said, MAX_MESSAGE) if failed(call) else excerpt(said, MAX_ANSWER),
        )
        for number, call in enumerate(in_order(trial.invocations)[:MAX_CALLS])
        for said in [messages.get(number, "")]
    )


def _messages(trial: Trial, binary: str) -> dict[int, str]:
    """What the target said to each invocation, by the invocation's number, where that can be told.

    Agents' tool calls and invocations meet by argv: its first occurrence in the agent's commands is its first
    invocation, and so on, if there are as many of the one as of the other.
    """
    outputs = _outputs(trial.events, binary)
    numbers: dict[tuple[str, ...], list[int]] = defaultdict(list)
    for number, call in enumerate(in_order(trial.invocations)):
        numbers[call.argv].append(number)
    return {
        number: output
        for argv, its_numbers in numbers.items()
        if len(its_numbers) == len(outputs[argv])
        for number, output in zip(its_numbers, outputs[argv], strict=True)
    }


def _outputs(events: Sequence[Event], binary: str) -> dict[tuple[str, ...], list[str]]:
    """The outputs of the agent's commands by the argv that they give to the target.

    The output of a command that calls the target more than once says nothing about one of the calls: ''.
    """
    outputs: dict[tuple[str, ...], list[str]] = defaultdict(list)
    for logged in logged_calls(events, binary):
        outputs[logged.call.argv].append(logged.result.output if logged.alone else "")
    for asked in logged_tool_calls(events, binary):
        outputs[asked.argv].append(asked.result.output)
    return outputs
