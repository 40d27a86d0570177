"""Causes that the interface of head explains: its help, or its list of tools, shows which names are gone and new."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import chain

from tidegate.decide.causes.diff_lines import is_undefined
from tidegate.decide.causes.mcp import arguments
from tidegate.decide.causes.seen import Found, Seen, command, options, words
from tidegate.model.surface import Gone, Interface

_OF_CALLS = frozenset({"exit_code", "output", "tool_error", "required", "option", "parameter"})


def by_interface(found: Found, seen: Seen, interfaces: Sequence[Interface]) -> Found:
    """Return the cause with what the interface knows of it; it is another one if a name is gone that explains it."""
    hits = [(one.tool, part) for one in interfaces if not one.why for part in one.gone if _is_it(found, part, seen)]
    if not hits or len({part.command for _, part in hits}) > 1:
        return found
    tool, part = hits[0]
    names = tuple(chain.from_iterable(part.names for _, part in hits))
    new = part.new if len(hits) == 1 else ()
    if found.kind == part.kind:
        return found._replace(names=names, new=new or found.new)
    if found.kind == "words" and not (part.kind == "option" and is_undefined(names, seen.changes)):
        return found._replace(new=new)
    if part.kind == "option":
        return Found("option", (f"{tool} {part.command}".strip(),), names, new)
    about = found.about if found.kind == "parameters" or seen.pair is None else (_of_server(seen),)
    return Found("parameter", about, names, new)


def _is_it(found: Found, part: Gone, seen: Seen) -> bool:
    """Return True if this part explains what was found. A help text may only hide an option: the code has to agree."""
    if found.kind == "words":
        return set(found.names) <= set(part.names)
    if found.kind == "parameters":
        return part.kind == "parameter" and found.about == (part.command,)
    if found.kind not in _OF_CALLS or seen.pair is None or not set(part.names) & set(_given(part, seen)):
        return False
    if part.kind == "parameter":
        return seen.pair.head.status == "error"
    refused = found.kind == "option" and found.names[0] in part.names
    return refused or (found.kind in ("exit_code", "output") and is_undefined(part.names, seen.changes))


def _given(part: Gone, seen: Seen) -> Iterator[str]:
    """Yield the options, or the parameters of a tool, that the changed call gives."""
    call = seen.pair.head if seen.pair else None
    given = arguments(call) if call else None
    if call and part.kind == "parameter" and given is not None and words(call)[1] == part.command:
        yield from given
    elif call and part.kind == "option" and given is None and part.command in ("", command(call)):
        yield from options(call)


def _of_server(seen: Seen) -> str:
    return " ".join(words(seen.pair.head)[:2]) if seen.pair else ""
