"""Which recorded calls meet a mutant: those that it changes."""

from __future__ import annotations

import json

from tidegate.model.mutant import Mutant
from tidegate.model.surface import ObservedCall
from tidegate.mutants import change


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
