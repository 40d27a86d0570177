"""Finds the target's calls in the text that an agent printed, if it reports its calls in no other way."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import NamedTuple

from tidegate.invocations.shell_grammar import Call, shell_lines
from tidegate.invocations.shell_status import Tells
from tidegate.model.event import Event, Message
from tidegate.model.invocation import Invocation
from tidegate.model.target import Target
from tidegate.text.patterns import PatternTooSlowError, search

_PROMPT = re.compile(r"\s*(?:[\w.@:~/()-]{0,60}[$%\u276f]|\+)\s+(?=\S)")
_EXIT_CODE = re.compile(
    r"\bexit(?:ed)?(?: with)? ?(?:code|status):? ?(\d{1,3})\b|^\W*exit:? (\d{1,3})\W*$", re.I | re.M
)
_COLOURS = re.compile(r"\x1b\[[0-9;?]*[ -/]*[@-~]|\r")


class _Printed(NamedTuple):
    """A line with calls, and whether it has a prompt sign."""

    row: int
    calls: tuple[tuple[Call, Tells], ...]
    has_prompt: bool


def printed_invocations(events: Sequence[Event], target: Target, started_at: float) -> tuple[Invocation, ...]:
    """Return the calls in the agent's messages, which are approximate.

    A call is a line with a prompt sign (`$ tool add`), or one that the target's `command_pattern` matches and that an
    exit code follows. A status is known only by an explicit `exit code N` or `exit status N` before the next such line.
    """
    messages = (event for event in events if isinstance(event, Message) and event.role == "assistant")
    return tuple(
        call.model_copy(update={"started_at": started_at + message.at})
        for message in messages
        for call in _calls(_COLOURS.sub("", message.text), target)
    )


def _calls(text: str, target: Target) -> Iterator[Invocation]:
    rows = text.split("\n")
    found = [line for row, written in enumerate(rows) if (line := _line(row, written, target))]
    for line, following in pairwise([*found, _Printed(len(rows), (), has_prompt=True)]):
        told = _EXIT_CODE.search("\n".join(rows[line.row + 1 : following.row]))
        if told is None and not line.has_prompt:
            continue  # prose that mentions the tool
        for call, tells in line.calls:
            status, code = tells.status(int(told[1] or told[2]) if told else None)
            yield Invocation(argv=call.argv, status=status, exit_code=code, started_at=0.0, source="transcript")


def _line(row: int, written: str, target: Target) -> _Printed | None:
    """Return the row if it is a command line, also one that does not call the target; None if it is other text."""
    prompt = _PROMPT.match(written)
    command = written[prompt.end() :] if prompt else written
    if prompt is None and not (target.command_pattern and _matches(target.command_pattern, written)):
        return None
    lines = shell_lines(command, target.binary)
    calls = tuple(pair for line in lines for pair in zip(line.calls, line.tells, strict=True))
    return _Printed(row, calls, prompt is not None) if prompt or calls else None


def _matches(pattern: str, written: str) -> bool:
    try:
        return search(pattern, written) is not None
    except PatternTooSlowError:
        return False
