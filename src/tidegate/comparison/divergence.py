"""Where head leaves base's way: the first step that the two sides did not take alike, and what followed on each."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from itertools import zip_longest

from tidegate.model.comparison import Divergence
from tidegate.model.measurement import Call, TrialResult

SHOWN_STEPS = 2  # of each side
Calls = Sequence[Call]
Way = tuple[object, ...]


def closest(head: TrialResult, candidates: Iterable[TrialResult]) -> TrialResult | None:
    """The trial that goes head's way longest, the first of those: the later the two part, the more it says."""
    return max(candidates, key=lambda trial: _steps_in_common(trial.calls, head.calls), default=None)


def divergence(base: Calls, head: Calls) -> Divergence | None:
    """The first step at which command or success differ.

    Where none does, the first at which the target answers otherwise: a change that no exit code shows. None: both
    went the same way to the end.
    """
    place = _parting(base, head, _way)
    if place is None:
        place = _parting(base, head, _answered)
    return None if place is None else _at(place, base, head)


def _steps_in_common(base: Calls, head: Calls) -> int:
    place = _parting(base, head, _way)
    return len(head) + 1 if place is None else place


def _parting(base: Calls, head: Calls, way: Callable[[Call], Way]) -> int | None:
    """The place (from 0) of the first step that is not the same by `way`."""
    steps = enumerate(zip_longest(base, head))
    return next((place for place, (ours, theirs) in steps if _of(way, ours) != _of(way, theirs)), None)


def _way(call: Call) -> Way:
    return call.command, call.status == "ok"


def _answered(call: Call) -> Way:
    return call.command, call.message


def _of(way: Callable[[Call], Way], call: Call | None) -> Way | None:
    return None if call is None else way(call)


def _at(place: int, base: Calls, head: Calls) -> Divergence:
    ours, theirs = base[place : place + SHOWN_STEPS], head[place : place + SHOWN_STEPS]
    return Divergence(
        step=place + 1,
        base=_line(ours),
        head=_line(theirs),
        before=base[place - 1].command if place else "",
        base_steps=tuple(ours),
        head_steps=tuple(theirs),
    )


def _line(steps: Calls) -> str:
    """`taskmgr add a --prio 1 (exit 2: unknown option --prio)`; '' where the side had ended."""
    if not steps:
        return ""
    call = steps[0]
    if call.status == "ok":
        return call.command
    end = f"exit {call.exit_code}" if call.status == "error" and call.exit_code is not None else call.status
    message = call.message.strip().splitlines()
    return f"{call.command} ({end}: {message[0]})" if message else f"{call.command} ({end})"
