"""Calls that a draft may try for a part that no scenario uses: from recorded calls, the docs, and the help. Pure."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from tidegate.model.mutant import Mutant
from tidegate.model.surface import Part
from tidegate.mutants.change import without

_TEXT, _WORD = "Write the changelog", "example"
_GUESSES: tuple[tuple[str, str], ...] = (  # what the name of an option or an argument ends with, and a value for it
    (r"date|due|since|until|before|after|day", "2030-01-31"),
    (r"limit|count|number|num|max|min|depth|size|width|indent|n|lines|days|secs|seconds|timeout|priority", "2"),
    (r"title|message|subject|summary|description|body|task|design|acceptance", _TEXT),
    (r"text|note|comment", "Ask the team first"),
    (r"assignee|author|owner|user", "alice"),
    (r"file|path|dir|folder|url|db|database|config|output|command|cmd", ""),
)
READING = ("list", "ls", "ready", "status", "show", "export", "all", "log", "dump", "tree")
_ID = re.compile(r"(?:^|[-_])ids?$", re.IGNORECASE)


class Attempt(NamedTuple):
    """Command lines to run first, the call that uses the part, and what is left of it without the part."""

    before: tuple[str, ...]
    line: str
    plain: str = ""


class Sources(NamedTuple):
    """What attempts are made of. `recorded`: lines before a call and its arguments. `maker`: it prints its id."""

    tool: str
    parts: Sequence[Part]
    recorded: Sequence[tuple[tuple[str, ...], tuple[str, ...]]] = ()
    documented: Sequence[tuple[str, ...]] = ()
    maker: str = ""


def attempts(mutant: Mutant, part: Part, known: Sources) -> Iterator[Attempt]:
    """Yield attempts for the option or the subcommand, the most natural first."""
    command = part.command if part.kind == "option" else part.name
    yield from _of_docs(mutant, part, command, known)
    if part.kind != "option":
        for line in _bare(command, known):
            yield Attempt(_before(known), line, known.maker if known.maker and f"$({known.maker})" in line else "")
        return
    at = len(command.split())
    calls = [*known.recorded[:2]] or [(_before(known), tuple(shlex.split(line)[1:])) for line in _bare(command, known)]
    for before, argv in calls:
        for value in _values(part):
            words = [*argv[:at], mutant.name, *value, *argv[at:]]
            yield Attempt(before, shlex.join([known.tool, *words]), shlex.join([known.tool, *argv]))


def _of_docs(mutant: Mutant, part: Part, command: str, known: Sources) -> Iterator[Attempt]:
    """Yield the examples of the docs that use the part."""
    for lines in known.documented:
        for number, line in enumerate(lines):
            words = split(line)
            if words[:1] != [known.tool] or words[1 : 1 + len(command.split())] != command.split():
                continue
            plain = without(mutant.model_dump(mode="json"), words[1:]) if part.kind == "option" else []
            if plain != words[1:]:
                yield Attempt(tuple(lines[:number]), line, shlex.join([known.tool, *plain]) if plain else "")


def _bare(command: str, known: Sources) -> Iterator[str]:
    """Yield the call with a value for each argument that the help names; then with some that often fit."""
    start = shlex.join([known.tool, *command.split()])
    arguments = [part.name for part in known.parts if part.kind == "argument" and part.command == command]
    values = [value(name, known.maker) for name in arguments]
    if all(values):
        yield " ".join([start, *values])
    if not arguments:
        yield start
        yield f"{start} 1"
        yield f"{start} {shlex.quote(_TEXT)}"


def value(name: str, maker: str = "") -> str:
    """Return a value for an argument as the shell takes it; '' if none can be known, as for a file."""
    if _ID.search(name):
        return f'"$({maker})"' if maker else "1"
    return next((shlex.quote(found) if found else "" for ends, found in _GUESSES if _ends(name, ends)), _WORD)


def _values(part: Part) -> list[list[str]]:
    """Return what may follow the option."""
    if not part.takes_value:
        return [[]]
    if part.choices:
        return [[one] for one in part.choices if one != part.default]
    if part.default.isdecimal():
        return [[str(int(part.default) + 1)]]
    guessed = next((found for ends, found in _GUESSES if _ends(part.name, ends)), _WORD)
    return [[one] for one in dict.fromkeys([guessed, _WORD, "2"]) if one]


def _ends(name: str, ends: str) -> bool:
    return re.search(rf"(?:^|[-_])(?:{ends})s?$", name.lower()) is not None


def _before(known: Sources) -> tuple[str, ...]:
    """Return the lines of the scenario that calls the tool most: they leave something to work with."""
    return max((before for before, _ in known.recorded), key=len, default=())


def split(line: str) -> list[str]:
    """Return the words of a command line; none if it is cut off."""
    try:
        return shlex.split(line)
    except ValueError:
        return []
