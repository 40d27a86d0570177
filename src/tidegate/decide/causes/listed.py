"""Causes that the interface of head explains: its help, or its list of tools, lacks a name that the call uses."""

from __future__ import annotations

from collections.abc import Sequence

from tidegate.decide.causes.diff_lines import is_dropped
from tidegate.decide.causes.mcp import arguments
from tidegate.decide.causes.seen import SYMPTOMS, Found, Seen, command, options, words
from tidegate.model.surface import Interface, Part


def by_interface(found: Found, seen: Seen, interfaces: Sequence[Interface]) -> Found:
    """Return the cause, or a better one if exactly one name that is gone explains it."""
    hits = [(one.tool, part) for one in interfaces for part in one.gone if _explains(part, found, seen)]
    if len(hits) != 1:
        return found
    tool, part = hits[0]
    call = words(seen.pair.head) if seen.pair else ()
    if part.kind == "parameter":
        return Found("parameter", found.about if found.kind == "parameters" else (" ".join(call[:2]),), (part.name,))
    if part.kind == "tool":
        return Found("tool", call[:1], (part.name,))
    about = found.about if found.kind == "option" else (f"{tool} {part.command}".strip(),)
    return Found("option", about, (part.name, *part.aliases))


def _explains(part: Part, found: Found, seen: Seen) -> bool:
    """Return True if what was found follows from it. A help text may only hide an option: the code has to agree."""
    if part.kind == "parameter" and found.kind == "parameters":
        return found.about == (part.command,)
    names = {part.name, *part.aliases}
    dropped = part.kind == "option" and any(is_dropped(name, seen.changes) for name in names)
    call = seen.pair.head if seen.pair else None
    if found.kind == "words" or call is None:
        return found.kind == "words" and dropped and names.issuperset(found.names)
    if part.kind in ("parameter", "tool"):
        fails = call.status == "error" and found.kind in (*SYMPTOMS, "tool_error")
        given = (arguments(call) or {}).keys() if part.kind == "parameter" else {part.name}
        return fails and words(call)[1:2] == (part.command or part.name,) and part.name in given
    uses = part.command in ("", command(call)) and not names.isdisjoint(options(call))
    return uses and (found.kind == "option" or (dropped and found.kind in ("exit_code", "output")))
