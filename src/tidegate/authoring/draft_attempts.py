"""Calls that a draft may try for a part that no scenario uses: from recorded lines, the docs, and the help. Pure."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from tidegate.model.mutant import Mutant
from tidegate.model.surface import Part
from tidegate.mutants.change import without

_TEXT, _WORD, _OTHER = "Write the changelog", "example", "Tag the release"
_GUESSES: tuple[tuple[str, str], ...] = (  # what the name of an option or an argument ends with, and a value for it
    (r"date|due|since|until|before|after|day", "2030-01-31"),
    (r"limit|count|number|num|max|min|depth|size|width|indent|n|lines|days|secs|seconds|timeout|priority", "1"),
    (r"title|message|subject|summary|description|body|task|design|acceptance", _TEXT),
    (r"text|note|comment", "Ask the team first"),
    (r"assignee|author|owner|user", "alice"),
    (r"file|path|dir|folder|url|db|database|config|output|command|cmd", ""),
)
READING = ("list", "ls", "ready", "status", "show", "export", "all", "log", "dump", "tree")
_ID = re.compile(r"(?:^|[-_])ids?$", re.IGNORECASE)
_FILE = re.compile(r"(?:^|[-_])(?:file|path|input|infile|filename)s?$", re.IGNORECASE)
_TAKES_FILE = re.compile(r"(?<![-\w=])[\[<]*(?:FILE|INPUT|file|input)(?:_?(?:PATH|path))?[\]>]*(?:\s|$)")
_CHOICES = re.compile(r"\((\w[\w-]*(?:\|\w[\w-]*)+)\)")
_EXAMPLE = re.compile(r"(?:e\.g\.|for example|such as),? *(?:--?[\w-]+[ =])?[\"'`]?([\w.@/:-]+)", re.IGNORECASE)
_ABOUT_INPUT = re.compile(r"\b(?:the|that|your) input (?:\w+ ){0,3}(?:is|are|has|have|contains?)\b", re.IGNORECASE)
_KEPT = re.compile(r"^\w+=\$\((?P<line>.*)\)$")


class Attempt(NamedTuple):
    """Command lines to run first, the line that uses the part, and what is left of it without the part.

    `origin`: the number of the row whose recorded line it is; None: of none.
    """

    before: tuple[str, ...]
    line: str
    plain: str = ""
    origin: int | None = None


class Recorded(NamedTuple):
    """A command line of a row, with the lines before it."""

    before: tuple[str, ...]
    line: str
    origin: int = 0


class Sources(NamedTuple):
    """What attempts are made of. `maker`: it writes something and prints its id. `effects`: lines that change `$id`.

    `file`: the name of a file that the tool may read. `told`: descriptions in the help, by subcommand and name;
    `usage` and a subcommand: the call as its help shows it.
    """

    tool: str
    parts: Sequence[Part]
    recorded: Sequence[Recorded] = ()
    documented: Sequence[tuple[str, ...]] = ()
    maker: str = ""
    effects: Sequence[str] = ()
    file: str = ""
    told: Mapping[tuple[str, str], str] = {}


def attempts(mutant: Mutant, part: Part, known: Sources) -> Iterator[Attempt]:
    """Yield attempts for the option or the subcommand, the most natural first."""
    command = part.command if part.kind == "option" else part.name
    yield from _of_docs(mutant, part, command, known)
    if part.kind != "option":
        for before, line in _bare(command, known):
            yield Attempt(before, line)
            if known.maker:
                yield from (Attempt((*before, effect), line) for effect in known.effects)
        return
    calls = [*known.recorded[:3]] or [Recorded(before, line, -1) for before, line in _bare(command, known)]
    for before, line, origin in calls:
        for value in _values(part, known.told.get((part.command, part.name), "")):
            words = " ".join([mutant.name, *map(shlex.quote, value)])
            if (more := _inserted(line, known.tool, command, words)) is not None:
                yield Attempt(before, more, line, None if origin < 0 else origin)


def call_in(line: str, tool: str) -> tuple[int, int] | None:
    """Return where the call of the tool begins and ends in a command line; None if there is none."""
    start, quote = 0, ""
    for place, character in enumerate(f"{line}\n"):
        if quote:
            quote = "" if character == quote else quote
        elif character in "'\"":
            quote = character
        elif character in "|;&<>\n":
            text = line[start:place]
            if split(text)[:1] == [tool]:
                return start + len(text) - len(text.lstrip()), start + len(text.rstrip())
            start = place + 1
    return None


def made(line: str) -> str:
    """Return the line whose output a variable keeps, or the line itself."""
    found = _KEPT.match(line)
    return found["line"] if found else line


def _inserted(line: str, tool: str, command: str, words: str) -> str | None:
    """Return the line with more words behind the subcommand; None if it does not call that."""
    place = call_in(line, tool)
    if place is None:
        return None
    start = r"\s+".join(map(re.escape, [tool, *command.split()]))
    found = re.compile(rf"{start}(?=\s|$)").match(line[: place[1]], place[0])
    return f"{line[: found.end()]} {words}{line[found.end() :]}" if found else None


def _of_docs(mutant: Mutant, part: Part, command: str, known: Sources) -> Iterator[Attempt]:
    """Yield the examples of the docs that use the part."""
    for lines in known.documented:
        for number, line in enumerate(lines):
            place = call_in(line, known.tool)
            words = split(line[place[0] : place[1]]) if place else []
            if place is None or words[1 : 1 + len(command.split())] != command.split():
                continue
            plain = without(mutant.model_dump(mode="json"), words[1:]) if part.kind == "option" else []
            if plain != words[1:]:
                rest = line[: place[0]] + shlex.join([known.tool, *plain]) + line[place[1] :] if plain else ""
                yield Attempt(tuple(lines[:number]), line, rest)


def _bare(command: str, known: Sources) -> Iterator[tuple[tuple[str, ...], str]]:
    """Yield the call with a value for each argument that the help names, and lines that make what it needs."""
    start = shlex.join([known.tool, *command.split()])
    arguments = [part.name for part in known.parts if part.kind == "argument" and part.command == command]
    if not arguments and known.file and _TAKES_FILE.search(known.told.get(("usage", command), "")):
        yield (), f"{start} {known.file}"
    elif not arguments:
        yield (f"id=$({known.maker})",) if known.maker else _before(known), start
        yield (), f"{start} 1"
        yield (), f"{start} {shlex.quote(_TEXT)}"
    if not arguments:
        return
    told, ids, values = known.told.get(("", command), ""), list[str](), list[str]()
    for name in arguments:
        if _ID.search(name):
            ids.append(f"id{len(ids) + 1}" if ids else "id")
            values.append(f'"${ids[-1]}"' if known.maker else "1")
        elif _FILE.search(name) and known.file:
            values.append(known.file)
        else:
            values.append(value(name, told))
    if all(values):
        makers = [known.maker, known.maker.replace(_TEXT, _OTHER)]
        before = tuple(f"{name}=$({maker})" for name, maker in zip(ids, makers, strict=False)) if known.maker else ()
        yield before or (() if known.file in values else _before(known)), " ".join([start, *values])


def value(name: str, told: str = "") -> str:
    """Return a value for an argument as the shell takes it; '' if none can be known, as for a file."""
    if found := _CHOICES.search(told):
        return found[1].split("|")[-1]
    return next((shlex.quote(one) if one else "" for ends, one in _GUESSES if _ends(name, ends)), _WORD)


def _values(part: Part, told: str) -> list[list[str]]:
    """Return what may follow the option; nothing if no value is known that a person would give.

    `told`: its description in the help. If it describes the input, whether that is true cannot be known here.
    """
    if _ABOUT_INPUT.search(told):
        return []
    if not part.takes_value:
        return [[]]
    if part.choices:
        return [[one] for one in part.choices if one != part.default]
    if part.default.isdecimal():
        return [[one] for one in dict.fromkeys(["1", str(int(part.default) + 1)]) if one != part.default]
    shown = [found[1].rstrip(".:") for found in _EXAMPLE.finditer(told)]
    guessed = next((found for ends, found in _GUESSES if _ends(part.name, ends)), "")
    return [[one] for one in dict.fromkeys([*shown[:1], guessed]) if one]


def _ends(name: str, ends: str) -> bool:
    return re.search(rf"(?:^|[-_])(?:{ends})s?$", name.lower()) is not None


def _before(known: Sources) -> tuple[str, ...]:
    """Return the lines of the scenario that calls the tool most: they leave something to work with."""
    return max((one.before for one in known.recorded), key=len, default=())


def split(line: str) -> list[str]:
    """Return the words of a command line; none if it is cut off."""
    try:
        return shlex.split(line)
    except ValueError:
        return []
