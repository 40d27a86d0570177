"""Compare what a tool offers on base and head: what breaks callers, and what its list of tools costs. Pure."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from tidegate.decide.causes.seen import named_in
from tidegate.decide.surface.docs import misnamed
from tidegate.decide.surface.server_parts import UNREAD
from tidegate.decide.surface.used import Scenario, Users, surface_change, users
from tidegate.model.cause import Place
from tidegate.model.result import FileChange
from tidegate.model.surface import BYTES_PER_TOKEN, Impact, Interface, InterfaceChange, Part
from tidegate.text.shorten import few, middle_cut

Finding = tuple[Impact, str]
_LEFT_OUT = ("argument", "json_key", "exit_code", "file")  # arguments: usages name them as they like
_HINTS = {"readOnlyHint": "false", "destructiveHint": "true", "idempotentHint": "false", "openWorldHint": "true"}
_PLAIN = re.compile(  # limits on which no other keyword depends
    r"(?:(?:min|max)(?:Length|Items|Properties|imum)|exclusiveM(?:in|ax)imum|multipleOf|uniqueItems|pattern|format"
    r"|not|propertyNames|dependentRequired|anyOf|oneOf)$"
)
MOST_PLACES = 5  # in the docs, for one part


class Survey(NamedTuple):
    """What a tool offers on one side. `why`: why that is unknown, else ''; `inside`: the tool can be the reason.

    `again`: what it offered when it was asked a second time; nothing if it was not.
    """

    parts: tuple[Part, ...]
    why: str = ""
    inside: bool = False
    again: tuple[Part, ...] = ()


def steady(base: Survey, head: Survey) -> tuple[Survey, Survey]:
    """Return both sides without what base offers otherwise the second time, such as resources named by a session.

    Of head, parts of these kinds are left out that base does not have and head itself did not offer twice. Of a part
    whose form base changes, that is base's.
    """
    once, again, of_head = ({part.id: part for part in parts} for parts in (base.parts, base.again, head.again))
    if not again:
        return base, head
    unsteady = once.keys() ^ again.keys()
    kinds = {kind for kind, *_ in unsteady}

    def is_compared(part: Part) -> bool:
        is_known = part.kind not in kinds or part.id in once or part.id in of_head
        return is_known and part.id not in unsteady

    def as_base(part: Part) -> Part:
        old, second = once.get(part.id, part), again.get(part.id, part)
        fields = [name for name in Part.model_fields if getattr(old, name) != getattr(second, name)]
        varying = {key for key, _ in old.limits.items() ^ second.limits.items()}
        limits = {key: one for key, one in part.limits.items() if key not in varying}
        limits |= {key: one for key, one in old.limits.items() if key in varying}
        own = {name: getattr(old, name) for name in fields if name != "characters"}
        return part.model_copy(update={**own, "limits": limits})

    kept = tuple(as_base(part) for part in head.parts if is_compared(part))
    return base._replace(parts=tuple(filter(is_compared, base.parts))), head._replace(parts=kept)


def interface(
    tool: str,
    base: Survey,
    head: Survey,
    calls: Mapping[str, Scenario],
    docs: Sequence[Place] = (),
    edits: Iterable[FileChange] = (),
    unread: Collection[str] = (),
) -> Interface:
    """Return the comparison. A side that lists nothing was not measured.

    `calls`: of the scenarios' passing trials. `docs`: lines that name what is gone. `edits`: of the docs. `unread`:
    environment variables that only the docs name.
    """
    for side, own, other in (("base", base, head), ("head", head, base)):
        nothing = "it lists nothing" if other.parts and not own.parts else ""
        if why := own.why or nothing:
            return Interface(tool=tool, why=f"{side}: {why}", by_head=side == "head" and (own.inside or not own.why))
    before, after = ([part for part in one.parts if part.kind not in _LEFT_OUT] for one in (base, head))
    used = users(before, calls) | users(after, calls)
    needs = _more_arguments(tool, base.parts, head.parts)
    changes = (*misnamed(tool, after, edits, unread), *needs, *_changes(tool, before, after, used, docs))
    return Interface(tool=tool, changes=changes, gone=tuple(_gone(before, after)), tokens=_tokens(before, after))


def _more_arguments(tool: str, before: Iterable[Part], after: Iterable[Part]) -> Iterator[InterfaceChange]:
    """Yield the calls that need more arguments, by their usage, or whose usage shows none any more."""
    before, after = [*before], [*after]
    base, head = ([part for part in side if part.kind == "argument"] for side in (before, after))
    offered = {"", *(part.name for part in after if part.kind == "subcommand")}
    for command in dict.fromkeys(part.command for part in base):
        old, new = ([part.name for part in side if part.command == command and part.required] for side in (base, head))
        detail = ""
        if len(new) > len(old):
            detail = f"needs {' '.join(new)}, and on base {' '.join(old) or 'no argument'}"
        elif old and command in offered and all(part.command != command for part in head):
            detail = f"no longer lists {' '.join(old)}"
        if detail:
            yield InterfaceChange(impact="breaking", part=f"`{f'{tool} {command}'.strip()}`", detail=detail)


def _gone(before: Sequence[Part], after: Sequence[Part]) -> Iterator[Part]:
    change = surface_change(before, after)
    for old, new in (*((part, None) for part in change.removed), *change.changed):
        kept = (new.name, *new.aliases) if new else ()
        if names := tuple(name for name in (old.name, *old.aliases) if name not in kept):
            yield old.model_copy(update={"name": names[0], "aliases": names[1:]})


def _changes(
    tool: str, before: Sequence[Part], after: Sequence[Part], used: Users, docs: Sequence[Place]
) -> Iterator[InterfaceChange]:
    """Yield the changes, breaking ones first."""
    change = surface_change(before, after)
    found: list[tuple[Part, list[Finding], tuple[str, ...]]] = []
    for part in change.removed:
        impact: Impact = "text" if part.kind == "instructions" else "breaking"
        found.append((part, [(impact, "gone")], _naming(part, tool, docs)))
    found += [(new, [*_differences(old, new)], ()) for old, new in change.changed]
    found += [(part, [_new(part)], ()) for part in change.added]
    tools = {part.name: used[part.id] for part in (*before, *after) if part.kind in ("tool", "subcommand")}
    for impact in ("breaking", "additive", "text"):
        for part, said, places in found:
            if details := [detail for one, detail in said if one == impact]:
                by = tools.get(part.command or part.name, ()) if impact == "text" else used.get(part.id, ())
                detail = ", ".join(details)
                yield InterfaceChange(impact=impact, part=str(part), detail=detail, scenarios=by, docs=places)


def _naming(part: Part, tool: str, docs: Iterable[Place]) -> tuple[str, ...]:
    """Return the places that name the part with its subcommand and program; of a server, as code or with a `_`."""
    of_program = part.kind in ("subcommand", "option")
    words = [*part.name.split(), *part.command.split(), *([tool] if of_program else [])]

    def is_named(text: str, word: str) -> bool:
        as_code = of_program or "_" in word or re.search(rf"[`\"']{re.escape(word)}[`\"'(]", text)
        return bool(as_code) and named_in(text, word)

    return tuple(line.where for line in docs if all(is_named(line.text, word) for word in words))[:MOST_PLACES]


def _new(part: Part) -> Finding:
    if part.required and part.kind != "output":
        return "breaking", "new and required"
    if part.name == UNREAD:
        return "breaking", "not read whole"
    return ("text" if part.kind == "instructions" else "additive"), "new"


def _differences(old: Part, new: Part) -> Iterator[Finding]:
    """Yield how the form of a part differs, in words."""
    result = new.kind == "output"
    yield from _sets({old.name, *old.aliases}, {new.name, *new.aliases}, "no longer {}", "also {}")
    if old.takes_value != new.takes_value:
        yield "breaking", "takes a value" if new.takes_value else "no longer takes a value"
    yield from _values(old, new)
    yield from _types(old, new)
    if old.required != new.required:
        if result:
            yield ("additive", "always there") if new.required else ("breaking", "may be missing")
        else:
            yield ("breaking", "required") if new.required else ("additive", "no longer required")
    if new.kind == "tool":
        yield from _hints(old, new)
    yield from _limits(old, new)
    if old.default != new.default:
        impact: Impact = "breaking" if old.default and not result else "text"  # it may be another one if none is listed
        yield impact, f"default {old.default or 'not listed'} → {new.default or 'not listed'}"
    if old.text != new.text:
        yield "text", "new description" if not old.text else "other description" if new.text else "description gone"


def _sets(old: Collection[str], new: Collection[str], lost: str, gained: str) -> Iterator[Finding]:
    if gone := sorted(one for one in old if one not in new):
        yield "breaking", lost.format(_few(gone))
    if more := sorted(one for one in new if one not in old):
        yield "additive", gained.format(_few(more))


def _values(old: Part, new: Part) -> Iterator[Finding]:
    if old.choices and new.choices:
        verb = "returns" if new.kind == "output" else "takes"
        yield from _sets(old.choices, new.choices, f"no longer {verb} {{}}", f"{verb} {{}}")
    elif new.choices:
        yield ("additive" if new.kind == "output" else "breaking"), f"only {_few(new.choices)}"
    elif old.choices and new.kind == "option":  # a help that names no values does not say that it takes all
        yield "breaking", f"no longer lists {_few(old.choices)}"
    elif old.choices:
        yield ("breaking" if new.kind == "output" else "additive"), "any value"


def _types(old: Part, new: Part) -> Iterator[Finding]:
    """Yield a change of the type: callers may no longer pass what it took, or get what it never returned."""
    narrow, wide = (new, old) if new.kind in ("output", "resource", "template") else (old, new)
    if set(old.types) != set(new.types):
        harmless = not wide.types or (narrow.types and {*narrow.types} - {"nothing"} <= {*wide.types})
        said = [" or ".join(part.types).replace("integer or number", "number") or "any" for part in (old, new)]
        yield ("additive" if harmless and new.types != ("nothing",) else "breaking"), f"type {' → '.join(said)}"


def _limits(old: Part, new: Part) -> Iterator[Finding]:
    """Yield changes of further rules: callers may pass less than before, or get what a result never was."""
    for key in sorted({*old.limits, *new.limits} - _HINTS.keys()):
        before, after = old.limits.get(key), new.limits.get(key)
        if before != after:
            narrow, wide = (after, before) if new.kind == "output" else (before, after)
            is_looser = wide is None or (narrow is not None and _looser(key, narrow, wide))
            said = (
                "its schema"
                if key in ("schema", "anyOf", "oneOf")
                else f"{key} {middle_cut(before or 'none', 40)} → {middle_cut(after or 'none', 40)}"
            )
            yield ("additive" if is_looser and _PLAIN.match(key) else "breaking"), said


def _looser(key: str, before: str, after: str) -> bool:
    values = [json.loads(one) for one in (before, after)]
    if key in ("anyOf", "oneOf"):
        return all(one in values[1] for one in values[0])
    if not all(type(one) in (int, float) for one in values) or key == "multipleOf":
        return False
    return bool(values[1] <= values[0] if "min" in key.lower() else values[1] >= values[0])


def _hints(old: Part, new: Part) -> Iterator[Finding]:
    """Yield changes of hints: clients decide by them what they do without asking. A new one adds to what they knew."""
    for hint, default in _HINTS.items():
        before, after = old.limits.get(hint), new.limits.get(hint)
        if before != after:
            harmless = before in (None, after or default)
            yield ("additive" if harmless else "breaking"), f"{hint} {before or 'absent'} → {after or 'absent'}"


def _few(values: Sequence[str]) -> str:
    return few(f"`{one}`" for one in values)


def _tokens(before: Iterable[Part], after: Iterable[Part]) -> dict[str, tuple[int | None, int | None]]:
    base, head = (
        {part.name: math.ceil(part.characters / BYTES_PER_TOKEN) for part in side if part.kind == "tool"}
        for side in (before, after)
    )
    return {name: (base.get(name), head.get(name)) for name in (*base, *head)}
