"""The parts of a tool's surface: from help pages, and from recorded calls."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from tidegate.agents.invocations.metrics import is_help
from tidegate.decide.surface.help_text import HelpOption, read_help
from tidegate.model.surface import ObservedCall, Part

GENERAL = frozenset({"-h", "--help", "-V", "--version"})  # of every tool, and no feature of it; so is `help`
_DIGITS = re.compile(r"\d+")
MOST_KEYS = 200


def of_help(pages: Mapping[str, str], binary: str) -> tuple[Part, ...]:
    """Return the parts that help pages list. `pages`: by subcommand (`add`, `remote add`), '' for the tool itself."""
    parts: dict[tuple[str, str, str], Part] = {}
    shared: set[str] = set()
    read = {command: read_help(page, f"{binary} {command}".strip()) for command, page in pages.items()}
    own = {*read[""].subcommands} if "" in read else set[str]()
    for command, found in read.items():
        repeats = bool(command and own) and own.issubset(found.subcommands)  # the tool's page, below an error
        for name in (name for name in found.subcommands if not repeats and (command or name != "help")):
            _put(parts, Part(kind="subcommand", name=f"{command} {name}".strip()))
        for option in found.options:
            if option.names[0] not in GENERAL and not (command and shared.intersection(option.names)):
                _put(parts, _option(option, command))
                shared |= set() if command else {*option.names}
        for name in found.arguments:
            _put(parts, Part(kind="argument", name=name, command=command, required=name in found.required))
    return tuple(parts.values())


def of_calls(calls: Iterable[ObservedCall], listed: Sequence[Part]) -> tuple[Part, ...]:
    """Return the parts that only calls show: keys of JSON output, exit codes, files written."""
    parts: dict[tuple[str, str, str], Part] = {}
    names = commands(listed)
    for call in calls:
        if is_help(call.argv):
            continue
        command = command_of(call.argv, names)
        _put(parts, Part(kind="exit_code", name=str(call.exit_code), command=command))
        for key in json_keys(call.stdout):
            _put(parts, Part(kind="json_key", name=key, command=command))
        for file in call.written:
            _put(parts, Part(kind="file", name=_DIGITS.sub("N", file), command=command))
    return tuple(parts.values())


def commands(parts: Iterable[Part]) -> tuple[str, ...]:
    """Return the names of the subcommands or tools, the longest first."""
    names = (part.name for part in parts if part.kind in ("subcommand", "tool"))
    return tuple(sorted(names, key=lambda name: -len(name.split())))


def command_of(argv: Sequence[str], names: Sequence[str]) -> str:
    """Return the subcommand of a call, '' if it has none. `names`: as `commands` orders them."""
    return next((name for name in names if place_of(argv, name) is not None), "")


def place_of(argv: Sequence[str], name: str) -> int | None:
    """Return where the words of the subcommand begin: only options and their values come before; None if nowhere."""
    words = name.split()
    for place, word in enumerate(argv):
        if list(argv[place : place + len(words)]) == words:
            return place
        after_option = place > 0 and argv[place - 1].startswith("-") and "=" not in argv[place - 1]
        if not word.startswith("-") and not after_option:
            return None
    return None


def json_keys(text: str) -> tuple[str, ...]:
    """Return the keys of all objects in an output that is JSON, or JSON line by line; none if it is not."""
    values = parsed(text)
    return tuple(dict.fromkeys(key for value in values or () for key in _keys(value)))[:MOST_KEYS]


def parsed(text: str) -> list[Any] | None:
    """Return the JSON values of an output; None if it is not JSON, or has neither an object nor a list."""
    stripped = text.strip()
    if not stripped.startswith(("{", "[")):
        return None
    try:
        return [json.loads(stripped)]
    except (ValueError, RecursionError):
        pass
    try:
        return [json.loads(line) for line in stripped.splitlines() if line.strip()]
    except (ValueError, RecursionError):
        return None


def _keys(value: Any) -> Iterator[str]:
    if isinstance(value, dict):
        for key, inner in value.items():
            yield key
            yield from _keys(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from _keys(inner)


def _option(option: HelpOption, command: str) -> Part:
    name, *others = option.names
    return Part(
        kind="option",
        name=name,
        command=command,
        aliases=tuple(others),
        takes_value=option.takes_value,
        choices=option.choices,
        default=option.default,
    )


def _put(parts: dict[tuple[str, str, str], Part], part: Part) -> None:
    parts.setdefault(part.id, part)
