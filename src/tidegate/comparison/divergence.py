"""Find where head diverges from base: the first step that differs, and the steps that follow on each side."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from itertools import zip_longest

from tidegate.model.comparison import Divergence
from tidegate.model.measurement import Call, TrialResult

SHOWN_STEPS = 2  # steps shown of each side
Calls = Sequence[Call]
Way = tuple[object, ...]


def closest(head: TrialResult, candidates: Iterable[TrialResult]) -> TrialResult | None:
    """Return the candidate that agrees with head for the most steps; None if there are no candidates.

    The later two trials diverge, the closer the first different step is to the cause.
    """
    return max(candidates, key=lambda trial: _steps_in_common(trial.calls, head.calls), default=None)


def divergence(base: Calls, head: Calls) -> Divergence | None:
    """Return the first step at which the command, or whether it succeeds, differs.

    If there is none, return the first step at which the output differs: a change that no exit code shows. None if
    both sides are equal to the end.
    """
    place = _parting(base, head, _way)
    if place is None:
        place = _parting(base, head, _answered)
    return None if place is None else _at(place, base, head)


def _steps_in_common(base: Calls, head: Calls) -> int:
    place = _parting(base, head, _way)
    return len(head) + 1 if place is None else place


def _parting(base: Calls, head: Calls, way: Callable[[Call], Way]) -> int | None:
    """Return the index, from 0, of the first step at which `way` returns different values; None if there is none."""
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
    """Return `taskmgr add a --prio 1 (exit 2: unknown option --prio)`; '' if the side had ended."""
    if not steps:
        return ""
    call = steps[0]
    if call.status == "ok":
        return call.command
    message = call.message.strip().splitlines()
    return f"{call.command} ({call.ended}: {message[0]})" if message else f"{call.command} ({call.ended})"
