"""Find where head diverges from base: the first step that differs, and the steps that follow on each side."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import partial
from itertools import zip_longest

from tidegate.model.comparison import Divergence
from tidegate.model.measurement import Call, TrialResult
from tidegate.text.noise import Words, masked

SHOWN_STEPS = 2  # steps shown of each side
Calls = Sequence[Call]
Way = tuple[object, ...]
_NONE: Words = frozenset()


def closest(head: TrialResult, candidates: Iterable[TrialResult], noise: Words = _NONE) -> TrialResult | None:
    """Return the candidate that agrees with head for the most steps; None if there are no candidates.

    The later two trials diverge, the closer the first different step is to the cause.
    """
    return max(candidates, key=lambda trial: _steps_in_common(trial.calls, head.calls, noise), default=None)


def divergence(base: Calls, head: Calls, noise: Words = _NONE) -> Divergence | None:
    """Return the first step at which the command, or how it ends, differs.

    If there is none, return the first step at which the output differs: a change that no exit code shows. None if
    both sides are equal to the end. Generated ids, times and other noise do not count.
    """
    place = _parting(base, head, partial(_way, noise))
    if place is None:
        place = _parting(base, head, partial(_answered, noise))
    return None if place is None else _at(place, base, head, noise)


def _steps_in_common(base: Calls, head: Calls, noise: Words) -> int:
    place = _parting(base, head, partial(_way, noise))
    return len(head) + 1 if place is None else place


def _parting(base: Calls, head: Calls, way: Callable[[Call], Way]) -> int | None:
    """Return the index, from 0, of the first step at which `way` returns different values; None if there is none."""
    steps = enumerate(zip_longest(base, head))
    return next((place for place, (ours, theirs) in steps if _of(way, ours) != _of(way, theirs)), None)


def _way(noise: Words, call: Call) -> Way:
    return masked(call.command, noise), call.status == "ok", call.exit_code


def _answered(noise: Words, call: Call) -> Way:
    return masked(call.command, noise), masked(call.message, noise)


def _of(way: Callable[[Call], Way], call: Call | None) -> Way | None:
    return None if call is None else way(call)


def _at(place: int, base: Calls, head: Calls, noise: Words) -> Divergence:
    end = place + SHOWN_STEPS
    theirs = head[place:end]
    ours = [_like(call, theirs[number : number + 1], noise) for number, call in enumerate(base[place:end])]
    return Divergence(
        step=place + 1,
        base=_line(ours),
        head=_line(theirs),
        before=base[place - 1].command if place else "",
        base_steps=tuple(ours),
        head_steps=tuple(theirs),
    )


def _like(base: Call, heads: Calls, noise: Words) -> Call:
    """Return base's call with head's command or output where they differ in noise only."""
    fields = {
        name: getattr(head, name)
        for head in heads
        for name in ("command", "message")
        if masked(getattr(base, name), noise) == masked(getattr(head, name), noise)
    }
    return base.model_copy(update=fields)


def _line(steps: Calls) -> str:
    """Return `taskmgr add a --prio 1 (exit 2: unknown option --prio)`; '' if the side had ended."""
    if not steps:
        return ""
    call = steps[0]
    if call.status == "ok":
        return call.command
    message = call.message.strip().splitlines()
    return f"{call.command} ({call.ended}: {message[0]})" if message else f"{call.command} ({call.ended})"
