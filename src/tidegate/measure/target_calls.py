"""The calls of the tool under test, as reports show them."""

from __future__ import annotations

import shlex
from collections import defaultdict
from collections.abc import Sequence

from tidegate.invocations.counting import failed, in_order
from tidegate.invocations.from_log import logged_calls, logged_tool_calls
from tidegate.model.event import Event
from tidegate.model.measurement import Call
from tidegate.model.trial import Trial
from tidegate.text.shorten import clipped, excerpt, without_stack

MAX_CALLS = 200
MAX_COMMAND = 500  # characters
MAX_MESSAGE = 800  # characters


def calls_of(trial: Trial, binary: str) -> tuple[Call, ...]:
    """Return the first MAX_CALLS calls in order, each with its output if that can be determined."""
    messages = _messages(trial, binary)
    return tuple(
        Call(
            command=excerpt(shlex.join([binary, *call.argv]), MAX_COMMAND),
            exit_code=call.exit_code,
            status=call.status,
            message=clipped(without_stack(said) if failed(call) else said, MAX_MESSAGE),
            duration_s=call.duration_s,
        )
        for number, call in enumerate(in_order(trial.invocations)[:MAX_CALLS])
        for said in [messages.get(number, "")]
    )


def _messages(trial: Trial, binary: str) -> dict[int, str]:
    """Return the output of each invocation, by the invocation's number, if it can be determined.

    The recorder knows invocations, the agent's log knows outputs. They are matched by argv and order, but only if both
    have the same number of calls with that argv; otherwise a match would be a guess.
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
    """Return the outputs in the agent's log, by the argv of the call.

    A command that calls the tool more than once has one output for all its calls, so '' is used for each.
    """
    outputs: dict[tuple[str, ...], list[str]] = defaultdict(list)
    for logged in logged_calls(events, binary):
        outputs[logged.call.argv].append(logged.result.output if logged.alone else "")
    for asked in logged_tool_calls(events, binary):
        outputs[asked.argv].append(asked.result.output)
    return outputs
