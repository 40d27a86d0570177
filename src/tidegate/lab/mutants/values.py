"""List the mutants of values: one that an option or a parameter no longer takes, and another default."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import Any

from tidegate.decide.surface.parts import command_of, commands
from tidegate.model.mutant import Mutant, MutantKind
from tidegate.model.surface import ObservedCall, Part
from tidegate.trial.mutation import is_help, value_of

MOST_CHOICES, MOST_SEEN = 6, 2  # values of one option: listed ones, and of others those in recorded calls


def of_values(parts: Sequence[Part], calls: Sequence[ObservedCall], binary: str) -> Iterator[Mutant]:
    """Yield the mutants of a command-line tool's options."""
    names = commands(parts)
    for part in parts:
        if part.kind == "option":
            own = [call for call in calls if not part.command or command_of(call.argv, names) == part.command]
            for value in part.choices[:MOST_CHOICES] if len(part.choices) > 1 else _seen(part, own):
                words = f"`{part.name} {value}` is refused by `{part.command or binary}`"
                yield _mutant("value_refused", words, part, value)
                if (other := _other(value, part.choices)) is not None and len(part.choices) > 1:
                    words = f"`{part.name} {value}` of `{part.command or binary}` is taken as {other}"
                    swapped = _mutant("value_swapped", words, part, value)
                    yield swapped.model_copy(update={"default": other})
            if part.command or not names:
                yield from _defaults(part, binary)


def of_parameter(part: Part) -> Iterator[Mutant]:
    """Yield the mutants of a parameter of an MCP tool."""
    of = f"`{part.name}` of `{part.command}`"
    for value in part.choices[:MOST_CHOICES] if len(part.choices) > 1 else ():
        yield _mutant("value_refused", f"{value} is refused for {of}", part, value)
    if part.default:
        choices = [json.loads(one) for one in part.choices]
        new = _other(json.loads(part.default), choices)
        if new is not None:
            words = f"the default of {of} is {json.dumps(new)}, not {part.default}"
            yield _mutant("default_changed", words, part, json.dumps(new))


def _defaults(part: Part, binary: str) -> Iterator[Mutant]:
    of = f"`{part.command or binary}`"
    if not part.takes_value:
        pair = any(name.startswith("--no-") for name in part.aliases)  # one of them is the default
        if not pair:
            yield _mutant("default_changed", f"`{part.name}` is on by default in {of}", part, "")
    elif part.default:
        known = int(part.default) if part.default.isdecimal() and not part.choices else part.default
        new = _other(known, part.choices)
        if new is not None:
            words = f"the default of `{part.name}` of {of} is {new}, not {part.default}"
            yield _mutant("default_changed", words, part, str(new))


def _seen(part: Part, calls: Sequence[ObservedCall]) -> list[str]:
    """Return values that recorded calls give to the option."""
    option = {"name": part.name, "aliases": part.aliases, "takes_value": part.takes_value}
    given = [value_of(option, list(call.argv)) for call in calls if part.takes_value and not is_help(list(call.argv))]
    return [value for value in dict.fromkeys(given) if value and len(value) <= 40][:MOST_SEEN]


def _other(default: Any, choices: Sequence[Any]) -> Any:
    """Return another value: the next choice, the opposite, or one more; None if none is known to be valid."""
    if choices:
        return next((one for one in choices if one != default), None)
    if isinstance(default, bool):
        return not default
    return default + 1 if isinstance(default, int | float) else None


def _mutant(kind: MutantKind, words: str, part: Part, value: str) -> Mutant:
    fields = {"name": part.name, "aliases": part.aliases, "takes_value": part.takes_value, "default": part.default}
    return Mutant.model_validate({"kind": kind, "words": words, "command": part.command, "value": value, **fields})
