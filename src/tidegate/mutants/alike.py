"""Which mutants do the same to all calls of the rows that meet them, so that one of them is enough to run. Pure."""

from __future__ import annotations

from collections.abc import Hashable, Iterable

from tidegate.model.mutant import Mutant
from tidegate.model.surface import ObservedCall
from tidegate.mutants import change
from tidegate.mutants.outputs import Result

# The wrapper does something else than to change arguments or outputs, or the state depends on the kind.
_OTHERWISE = frozenset(
    (
        *("effect_lost", "effect_twice", "written_cut", "written_renamed", "crashes_after", "slower", "hangs"),
        *("works_once", "option_ignored", "default_changed"),
    )
)


def done_to(mutant: Mutant, calls: Iterable[ObservedCall]) -> Hashable | None:
    """Return what a mutant of a command-line tool does to recorded calls; None if they do not show all that it does."""
    if mutant.kind in _OTHERWISE or mutant.file:
        return None
    data = mutant.model_dump(mode="json")
    return tuple(_done_to(data, call) for call in calls)


def _done_to(data: dict[str, object], call: ObservedCall) -> tuple[tuple[str, ...] | None, Result]:
    """Return the arguments that the tool gets, None if it is not called, and the result that the caller gets."""
    argv = list(call.argv)
    given, instead = change.before(data, argv)
    was = call.was or (call.exit_code, call.stdout, call.stderr)
    return None if instead else tuple(given), change.after(data, argv, instead or was)
