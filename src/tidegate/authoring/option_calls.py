"""Calls of a tool with one more option, or with a configuration. Pure."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterable, Iterator, Sequence
from typing import Literal

from tidegate.decide.surface.parts import command_of, commands
from tidegate.model.surface import Part
from tidegate.model.value import Value

UNFIT = re.compile(  # options that wait, open something, print the help, or depend on time
    r"-{1,2}(?:h|help\S*|man(?:ual)?|V|version|watch|follow|interactive|edit\S*|serve\S*|port|host|daemon|prompt|pager|browser|open"
    r"|debug|profile|speed|\w+mark|tim(?:e|ing)|random\S*|seed|shuffle|inodes?|device|log\S*|install\S*|update|upgrade|completion\S*|color|colour)$"
)
_NUMBERS = re.compile(
    r"indent|width|max|min|num|size|count|depth|level|limit|prec|digits|wrap|lines?$|top|first|last|n$", re.IGNORECASE
)
FOR_FILES = re.compile(r"^--?(?:i|f|in|src|source|path|(?!-?(?:out|log|write))[\w-]*(?:file|input)(?:-?name)?)$")
FOR_DATA = re.compile(r"^--?(?:data|context|var(?:iable)?s?|view|values)$")  # of a template
_INPUT = re.compile(r" ([\w./-]+\.\w+)(?![\w./-])")
_WRITES = re.compile(r"^--?o(?:ut|$)")
_DATES = re.compile(r"date|day|month|week|year|since|until|before|after|due|now|^--(?:from|to|at)$")
_A_NUMBER = re.compile(r"INT(?:EGER)?|NUM(?:BER)?|N")  # among the choices of `--wrap {keep,no,INTEGER}`
_RULES = re.compile(r"ignore|select|disable|enable|exclude|only|rule|code|warn|error")
_RULE = re.compile(r"\b[A-Z]{1,4}\d{2,5}\b")  # of a linter, such as E501
_SEPARATORS = re.compile(r"delim|sep|escape|quote|comment|char", re.IGNORECASE)  # take one character
SEVERAL = {"values": "several"}  # of an option that would also take the arguments after it
MOST_CHOICES = 24  # values of an option that a line has


class Try(Value):
    """Ways to call the tool, of which the first that works is kept.

    `more`: others, which are less likely to work: in a plan, they come after the rest. `wants`: it has to work, to
    print what no earlier call did, or something else than it did last. `last`: after those that failed were tried
    again.
    """

    ways: tuple[str, ...]
    more: tuple[str, ...] = ()
    wants: Literal["works", "prints", "changes"] = "works"
    last: bool = False


def by_subcommand(lines: Iterable[str], binary: str, parts: Sequence[Part]) -> dict[str, list[str]]:
    """Return the lines that call the tool, by the subcommand that each calls first."""
    found: dict[str, list[str]] = {}
    for line in lines:
        if (call := _call(line, binary)) is not None:
            found.setdefault(command_of(line[call.end() :].split(), commands(parts)), []).append(line)
    return found


def _call(line: str, binary: str) -> re.Match[str] | None:
    return re.search(rf"(?<![\w./-]){re.escape(binary)}(?![\w./-])", line)


def with_option(line: str, binary: str, option: Part, parts: Sequence[Part], printed: str = "") -> Iterator[Try]:
    """Yield the line with the option, if its subcommand has it, with each value to try; one of all subcommands comes
    before the subcommand, and in `more` after it. If the line has it already, it gets the other values that the option
    lists.

    `printed`: by the line alone. Its words are values, too.
    """
    call = _call(line, binary)
    names = "|".join(map(re.escape, (option.name, *option.aliases)))
    given = re.search(rf"(?<![\w-])(?:{names})(?:[ =]([\w-]+))?(?![\w-])", line)
    if call is None or given is not None:
        for value in option.choices[:MOST_CHOICES] if given and given[1] else ():
            if given and value != given[1]:
                yield Try(ways=(line[: given.start(1)] + value + line[given.end(1) :],), wants="prints")
        return
    (command,) = by_subcommand([line], binary, parts)
    if option.command in ("", command):
        start = line.find(command, call.end())
        after_it = call.end() if start < 0 else start + len(command)
        at = after_it if option.command else call.end()
        if option.limits == SEVERAL:
            after = re.search(r" ?[<>|;&]", line[after_it:])
            at = after_it = after_it + after.start() if after else len(line)
        own = _INPUT.search(line, call.end()) if option.takes_value and FOR_FILES.search(option.name) else None
        if own:  # which the option may name in place of an argument
            moved = f"{line[: own.start()]}{line[own.end() :]}"
            yield Try(ways=(f"{moved[:at]} {option.name} {own[1]}{moved[at:]}",), wants="works")
        for values in _values(option, printed):
            ways, more = (
                tuple(f"{line[:place]} {value}{line[place:]}" for value in values) for place in (at, after_it)
            )
            yield Try(ways=ways, more=more if more != ways else (), wants="prints")


def with_both(line: str, other: str, part: Part) -> str:
    """Return the line with the option's value in the other line, too; '' if one of them has none."""
    value = rf"(?<!\S){re.escape(part.name)}[ =](?:'[^']*'|\S+)"
    own, more = re.search(value, line), re.search(value, other)
    return f"{line[: own.end()]} {more[0]}{line[own.end() :]}" if own and more else ""


def beyond(line: str, part: Part) -> str:
    """Return the line with a value that is not among those that the option lists."""
    value = "99" if all(map(str.isdecimal, part.choices)) else "no-such-value"
    return re.sub(rf"(?<!\S){re.escape(part.name)} \S+", f"{part.name} {value}", line)


def _values(part: Part, printed: str) -> Iterator[tuple[str, ...]]:
    """Yield the ways to give the option, for each of its values that is tried."""
    if not part.takes_value:
        yield (part.name,)
    elif part.choices:
        values = (choice for choice in part.choices[:4] if choice != part.default)
        given = ("20" if _A_NUMBER.fullmatch(value) else shlex.quote(value) for value in values)
        yield from ((f"{part.name} {value}",) for value in given)
    elif part.default.isdecimal():
        yield f"{part.name} {int(part.default) // 2}", f"{part.name} {int(part.default) + 2}"
    elif _SEPARATORS.search(part.name):
        yield f"{part.name} ';'", f"{part.name} :"
    elif part.name.endswith("range"):
        yield tuple(f"{part.name} {ends}" for ends in ("2 4", "2-4", "2:4", "2,4"))
    elif _NUMBERS.search(part.name):
        yield f"{part.name} 2", f"{part.name} 20", f"{part.name} 1"
        yield (f"{part.name} 0",)  # often means that there is no limit
    elif _WRITES.search(part.name):
        yield (f"{part.name} written.txt",)
    elif _RULES.search(part.name) and (rules := [*dict.fromkeys(_RULE.findall(printed))][:2]):
        start = rules[0].rstrip("0123456789")  # rules go by their starts, too
        named = (rules[0], ",".join(rules), rules[0][: len(start) + 1], start)
        yield from ((f"{part.name} {one}",) for one in named)
    else:
        shown = words_of(printed)
        words = [one for one in shown if one.isalpha()]
        days = ("2024-01-31", "'2024-01-31 10:30'", "2024-01", "1") if _DATES.search(part.name) else ()
        own = dict.fromkeys([*days, *shown[:1], *words[:2], *words[len(words) // 2 :][:1], *shown[-1:]])
        yield tuple(f"{part.name} {value}" for value in (*own, "name", "Ada", "unused", "'*'", "2", "sample.txt"))


def words_of(text: str) -> list[str]:
    """Return the words of a text that may be names, each once."""
    return [*dict.fromkeys(re.findall(r"[\w./-]*[A-Za-z]{2}(?:[\w./-]*\w)?", text))]
