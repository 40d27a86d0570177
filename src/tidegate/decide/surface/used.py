"""Which parts of a tool's surface the calls of a scenario use."""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from tidegate.agents.invocations.metrics import is_help
from tidegate.decide.surface.parts import command_of, commands
from tidegate.model.measurement import TrialResult
from tidegate.model.surface import ObservedCall, Part, PartKind

_PLURAL: dict[PartKind, str] = {
    "subcommand": "subcommands",
    "tool": "tools",
    "option": "options",
    "parameter": "parameters",
    "argument": "arguments",
    "json_key": "JSON keys",
    "exit_code": "exit codes",
    "file": "files",
}
MAPPED = frozenset(_PLURAL)  # what scenarios are said to use, or not
_NAMED_ALONE = ("resource", "template", "prompt", "prompt_argument", "instructions", "capability")


class Scenario(NamedTuple):
    """What a passing scenario shows: the calls of its agent and its checks, and the text of its checks and task."""

    calls: tuple[ObservedCall, ...]
    text: str


def scenario_calls(trials: Iterable[TrialResult]) -> dict[str, Scenario]:
    """Return the calls of each scenario's agents, in trials that passed."""
    found: dict[str, list[ObservedCall]] = {}
    for trial in trials:
        own = found.setdefault(trial.scenario, [])
        for call in trial.calls if trial.decides == "pass" else ():
            own.append(ObservedCall(argv=tuple(_words(call.command)[1:]), exit_code=call.exit_code or 0))
    return {name: Scenario(tuple(calls), "") for name, calls in found.items()}


def _words(command: str) -> list[str]:
    try:
        return shlex.split(command)
    except ValueError:  # a long command is cut
        return command.split()


Users = dict[tuple[PartKind, str, str], tuple[str, ...]]


def users(parts: Sequence[Part], scenarios: Mapping[str, Scenario]) -> Users:
    """Return the names of the scenarios that use each part. A key or a file is used if a check or the task names it."""
    names = commands(parts)
    return {
        part.id: tuple(name for name, scenario in scenarios.items() if _uses(part, scenario, names)) for part in parts
    }


def counts(parts: Iterable[Part], used: Users) -> str:
    """Return how much is used, in words: `6 of 9 subcommands, 11 of 24 options`."""
    told = []
    for kind, plural in _PLURAL.items():
        own = [part for part in parts if part.kind == kind]
        if own and kind not in ("exit_code", "argument", "file"):
            told.append(f"{sum(bool(used[part.id]) for part in own)} of {len(own)} {plural}")
    return ", ".join(told)


def has_option(argv: Sequence[str], part: Part) -> int | None:
    """Return the place of the option in a call, also as `--due=x`, `-pvalue` or in `-abc`; None if it is not there."""
    names = {part.name, *part.aliases}
    for place, word in enumerate(argv):
        if word == "--":
            return None
        if word in names or word.partition("=")[0] in names:
            return place
        short = re.match(r"-[A-Za-z0-9]{2,}$", word)
        if short and (f"-{word[1]}" in names or (not part.takes_value and any(f"-{one}" in names for one in word[1:]))):
            return place
    return None


def _uses(part: Part, scenario: Scenario, names: Sequence[str]) -> bool:
    if part.kind in ("json_key", "file"):
        return re.search(rf"(?<!\w){re.escape(part.name)}(?!\w)", scenario.text) is not None
    return any(_call_uses(part, call, names) for call in scenario.calls if not is_help(call.argv))


def _call_uses(part: Part, call: ObservedCall, names: Sequence[str]) -> bool:
    command = command_of(call.argv, names)
    if part.kind in ("subcommand", "tool"):
        return command == part.name or command.startswith(f"{part.name} ")
    if part.command and command != part.command:
        return False
    if part.kind == "option":
        return has_option(call.argv, part) is not None
    if part.kind == "parameter":
        return len(call.argv) > 1 and f"{json.dumps(part.name)}:" in call.argv[1]
    if part.kind in _NAMED_ALONE:
        return list(call.argv[1:2]) == [part.name]
    if part.kind == "exit_code":
        return str(call.exit_code) == part.name
    words = [word for word in call.argv if not word.startswith("-")]
    return len(words) > len(command.split())


class SurfaceDiff(NamedTuple):
    """The parts that only one side has, and those that both have in another form (base's, head's)."""

    added: tuple[Part, ...]
    removed: tuple[Part, ...]
    changed: tuple[tuple[Part, Part], ...]


def surface_change(base: Iterable[Part], head: Iterable[Part]) -> SurfaceDiff:
    """Return the change. What belongs to a subcommand or tool that is new or gone is left out: its name says it."""
    before, after = {part.id: part for part in base}, {part.id: part for part in head}
    added = [part for key, part in after.items() if key not in before]
    removed = [part for key, part in before.items() if key not in after]
    both = [(before[key], part) for key, part in after.items() if key in before]
    for old in [*removed]:
        if new := next((part for part in after.values() if _is_same_option(old, part)), None):
            both.append((old, new))  # it only has another first name, or is one of several of another option
            removed.remove(old)
            added = [part for part in added if part is not new]
    return SurfaceDiff(
        _outermost(added), _outermost(removed), tuple((old, new) for old, new in both if _form(old) != _form(new))
    )


def _is_same_option(old: Part, new: Part) -> bool:
    names = {old.name, *old.aliases} & {new.name, *new.aliases}
    return old.kind == new.kind == "option" and old.command == new.command and bool(names)


def _outermost(parts: list[Part]) -> tuple[Part, ...]:
    """Return the parts that are not inside another one, such as the parameters of a tool, or `filter.tags[]`."""
    places = {_place(part) for part in parts}
    return tuple(part for part in parts if not any(_place(part)[:end] in places for end in range(1, len(_place(part)))))


def _place(part: Part) -> tuple[str, ...]:
    """Return where the part is: below its tool and what it is a field of."""
    family = "prompts" if part.kind in ("prompt", "prompt_argument") else ""
    if part.kind in ("subcommand", "tool", "prompt"):
        return family, *part.name.split()
    names = re.split(r"[.\[]", part.name) if part.kind in ("parameter", "field", "output") else [part.name]
    which = "<result>" if part.kind == "output" else "<given>"
    return family, *part.command.split(), which, *filter(None, names)


def _form(part: Part) -> tuple[object, ...]:
    sets = frozenset(part.choices), frozenset({part.name, *part.aliases}), frozenset(part.types)
    return part.takes_value, part.required, part.default, part.text, part.limits, sets
