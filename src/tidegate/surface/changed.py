"""What a pull request changes in the surface of the tool under test."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from tidegate.model.surface import Part


class SurfaceChange(NamedTuple):
    """The parts that only one side has, and those that both have in another form (base's, head's)."""

    added: tuple[Part, ...]
    removed: tuple[Part, ...]
    changed: tuple[tuple[Part, Part], ...]


def surface_change(base: Iterable[Part], head: Iterable[Part]) -> SurfaceChange:
    """Return the change. What belongs to a subcommand or tool that is new or gone is left out: its name says it."""
    before, after = {part.id: part for part in base}, {part.id: part for part in head}
    added = [part for key, part in after.items() if key not in before]
    removed = [part for key, part in before.items() if key not in after]
    both = [(before[key], part) for key, part in after.items() if key in before]
    return SurfaceChange(
        _outermost(added), _outermost(removed), tuple((old, new) for old, new in both if _form(old) != _form(new))
    )


def _outermost(parts: list[Part]) -> tuple[Part, ...]:
    commands = {part.name for part in parts if part.kind in ("subcommand", "tool")}
    inside = [part for part in parts if part.command in commands or part.name.rpartition(" ")[0] in commands]
    return tuple(part for part in parts if part not in inside)


def _form(part: Part) -> tuple[object, ...]:
    return part.takes_value, part.required, part.default, frozenset(part.choices), frozenset(part.aliases)
