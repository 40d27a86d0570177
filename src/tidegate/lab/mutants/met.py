"""Which recorded calls meet a mutant: those that it changes."""

from __future__ import annotations

import json
from collections.abc import Hashable, Iterable

from tidegate.model.mutant import Mutant
from tidegate.model.surface import ObservedCall
from tidegate.trial import mutation as change
from tidegate.trial.mutated_outputs import Result

# The wrapper does something else than to change arguments or outputs, or the state depends on the kind.
_OTHERWISE = frozenset(
    (
        *("effect_lost", "effect_twice", "written_cut", "written_renamed", "crashes_after", "slower", "hangs"),
        *("works_once", "option_ignored", "default_changed"),
    )
)


def meets(mutant: Mutant, call: ObservedCall) -> bool:
    """Return True if the call of a command-line tool would get or do something else with the mutant."""
    data, argv = mutant.model_dump(mode="json"), list(call.argv)
    if mutant.kind in ("prompts", "effect_lost", "effect_twice", "written_cut", "written_renamed", "crashes_after"):
        return bool(call.written) and call.exit_code == 0 and change.meets(data, argv) and not change.is_help(argv)
    if mutant.kind in ("slower", "hangs", "works_once"):
        return change.meets(data, argv) and not change.is_help(argv)
    given, instead = change.before(data, argv)
    result = (call.exit_code, call.stdout, call.stderr)
    return instead is not None or given != argv or change.after(data, argv, result) != result


def server_meets(mutant: Mutant, call: ObservedCall, *, lists: bool) -> bool:
    """Return True if the call of an MCP server meets the mutant. `lists`: the agent's script records the tool list."""
    listed = call.argv[0] == "tools/list" and lists
    changes_list = mutant.kind in ("tool_removed", "tool_renamed", "parameter_renamed", "parameter_required")
    if mutant.kind == "description_emptied":
        return call.argv[0] == "tools/list"
    if listed and changes_list:
        return True
    if call.argv[0] != (mutant.name if mutant.kind.startswith("tool_") else mutant.command):
        return False
    if mutant.kind not in ("parameter_renamed", "value_refused", "default_changed"):
        return True
    given = json.loads(call.argv[1])
    if mutant.kind == "value_refused":
        return mutant.name in given and given[mutant.name] == json.loads(mutant.value)
    return (mutant.name in given) is (mutant.kind == "parameter_renamed")


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
