"""Finds which scenarios a pull request renames. Pure."""

from __future__ import annotations

from collections.abc import Iterable

from tidegate.model.suite import Scenario


def origins(base: Iterable[Scenario], head: Iterable[Scenario]) -> dict[str, Scenario]:
    """Return base's scenario of each of head's, by head's name: that of the same name, else one that was renamed.

    That is one which head lacks, with the same prompt or gates.
    """
    after = {one.name: one for one in head}
    before = {one.name: one for one in base}
    gone = {name: one for name, one in before.items() if name not in after}
    found = {name: before[name] for name in after if name in before}
    for name, one in after.items():
        alike = (old for old in gone.values() if may_be_renamed(old, one))
        if name not in before and (old := next(alike, None)):
            found[name] = gone.pop(old.name)
    return found


def may_be_renamed(before: Scenario, after: Scenario) -> bool:
    """Return True if both have the same prompt or gates."""
    return before.prompt == after.prompt or bool(before.gates and before.gates == after.gates)
