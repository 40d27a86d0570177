"""Read what a help text lists: subcommands, options with their values, and arguments.

Shapes: argparse, click, clap, cobra, commander, yargs, and what programs without a library print alike.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from itertools import pairwise
from typing import NamedTuple

_COLOUR = re.compile(r"\x1b\[[0-9;?]*[ -/]*[@-~]|.\x08")
_HEADING = re.compile(
    r"^\s*(?!.*\b(?:removed|former|obsolete)\b)(?:[\w-]+ )*(?:commands|subcommands|actions)\b[^.]{0,40}:?\s*$",
    re.IGNORECASE,
)
_SECTION = re.compile(r"^\s{0,4}[A-Za-z][^.]{0,60}:\s*$")
_GONE = re.compile(
    r"(?i)^\s*(?:(?!-).*\b(?:removed|former|obsolete|earlier|unknown)\b.*:\s*$|-.*\((?:removed|dropped)\)\s*$"
    r"|-[\w-]+(?:[ =]\S+)?:? +(?:(?:was|were|has been|is) (?:removed|dropped|gone)|(?:is )?no longer)\b)"
)
_WITH_ENTRY = re.compile(r"^\s*(?:sub)?commands?:\s+(?=[a-z][\w-]*\s{2,}\S)", re.IGNORECASE)
_POSITIONAL = re.compile(r"^positional arguments:\s*$", re.IGNORECASE)
_METAVAR = re.compile(r"^\s{1,4}(?:[A-Z_]+|<?(?:sub)?command>?|\{[a-z][\w-]*(?:,[\w-]+)*\})(?:\s*\.\.\.)?\s*$")
_ENTRY = re.compile(r"^(?P<indent>\s{1,8})(?P<words>[a-z][\w:.-]*(?:(?:, ?|\|)[a-z][\w:.-]*)*)(?=\s|\*|$)(?P<rest>.*)$")
_BULLET = re.compile(r"^( {0,4})[*•] (?=[a-z])")
_BRACES = re.compile(r"(?<![\w=\]-])\{([a-z][\w-]*(?:,[\w-]+)*)\}")
_SPEC = re.compile(r"^\s{0,16}(?P<spec>-{1,2}[A-Za-z0-9?#@\[].*)$")
_NAME = re.compile(r"(?<![\w-])(--?\[no-\][a-zA-Z][\w-]*|--?[A-Za-z0-9?][\w.-]*)")
_VALUE = re.compile(
    r"^(?:=|\[=|\s=\s|\s)\[?(?P<value><[^>]*>|\[[A-Za-z][\w|,. -]*\]|\{[^}]*\}|[A-Z][A-Z0-9_:,./|-]*(?![a-z])|"
    r"(?:string|strings|stringArray|stringToString|int|ints|uint|float|float64|duration|bool|value|file|path|bytes)\b)"
)
_ATTACHED = re.compile(r"^=(?P<value>\S+)")
_WORD = re.compile(r"^ [a-z#][\w-]*$")  # between the name and the description
_CHOICES = (
    re.compile(r"\[possible values: ([^\]]+)\]"),
    re.compile(r"[\[(]choices: ([^\])]+)[\])]"),
    re.compile(r"\{([\w.+:/@-]+(?:,[\w.+:/@-]+)*)\}"),
    re.compile(r"(?<=[ =])\[([\w.+:/@-]+(?:\|[\w.+:/@-]+)+)\]"),
    re.compile(r"(?<=[ =])<?([a-z0-9][\w.+-]*(?:\|[a-z0-9][\w.+-]*)+)>?(?=\s|$)"),
)
_DEFAULT = re.compile(r"[\[(]defaults?(?: to|:| is|=)? *[\"'`]?([\w.+-]{1,40})[\"'`]?(?=[\]),;])", re.IGNORECASE)
_IN_SENTENCE = re.compile(
    r"(?i)\bdefaults?(?: to| is|:) +(?:[\"'`]([\w.+-]{1,40})[\"'`]|(-?\d[\w.+-]{0,40}?)(?=[.,;)]*(?:\s|$)))"
)
_TYPED = re.compile(r"\[(?:string|number|array|count)\]")
_USAGE = re.compile(r"^\s*(?:usage|synopsis):?\s*(?P<line>.*)$", re.IGNORECASE)
_IN_USAGE = re.compile(r"\[(--?[A-Za-z][\w-]*(?: ?[|,] ?--?[A-Za-z][\w-]*)*)((?:[ =][^\]\[|]+)?)\]")
_ALIAS = re.compile(r"[a-z][a-z\d-]*")
FEWEST_ROWS = 3
_ARGUMENT = re.compile(r"<([\w .-]+)>|\b([A-Z][A-Z0-9_-]+)\b")
_BRACKETS = re.compile(r"\[[^\[\]]*\]")
_ALTERNATIVES = re.compile(r"\(([^()|]*)\|[^()]*\)")
_CHOICE = re.compile(r"[\w.+:/@-]{1,40}")
MOST_CHARACTERS, MOST_ROWS, LONGEST_ROW = 200_000, 3_000, 1_000
MOST_USAGE = 5_000  # characters
NOT_SUBCOMMANDS = frozenset({"help", "completion", "completions"})


class HelpOption(NamedTuple):
    """An option of a help text. `names[0]` is the long name if there is one."""

    names: tuple[str, ...]
    takes_value: bool
    choices: tuple[str, ...]
    default: str = ""


class HelpText(NamedTuple):
    """What a help text lists."""

    subcommands: tuple[str, ...]
    options: tuple[HelpOption, ...]
    arguments: tuple[str, ...]
    required: tuple[str, ...] = ()  # of the arguments, those that are not in brackets


def read_help(text: str, called: str) -> HelpText:
    """Return what the help of `called` (`tool add`) lists."""
    text = _readable(text)
    found: dict[str, HelpOption] = {}
    for option in (*_listed_options(text), *_usage_options(text, called)):
        known = next((one for one in found.values() if not set(one.names).isdisjoint(option.names)), None)
        if known is None:
            found[option.names[0]] = option
        elif known.choices and option.choices:  # in two places, of which one may be out of date
            both = tuple(value for value in known.choices if value in option.choices)
            found[known.names[0]] = known._replace(choices=both)
        elif option.takes_value and not known.takes_value and option.names[0] in known.names:
            found[known.names[0]] = known._replace(takes_value=True)  # lists of options often leave the value out
    usages = [*_usages(text, called)]
    required = usages[0] if usages else ""
    while "[" in required and (inner := _BRACKETS.sub(" ", required)) != required:
        required = inner
    required = _ALTERNATIVES.sub(r"\1", required)
    arguments = (tuple(dict.fromkeys(_arguments(line))) for line in (" ".join(usages), required))
    return HelpText(tuple(subcommands(text, called)), tuple(found.values()), *arguments)


def repeats(text: str, command: str) -> bool:
    """Return True if the help of a subcommand lists that itself: it is the help of the program again."""
    return command.rpartition(" ")[2] in subcommands(text)


def _readable(text: str) -> str:
    """Return the text without colours, and no more of it than a person would read: any program may have printed it."""
    rows = text[:MOST_CHARACTERS].replace("\t", "        ").split("\n")[:MOST_ROWS]
    return "\n".join(_COLOUR.sub("", row[:LONGEST_ROW]) for row in rows)


def subcommands(text: str, called: str = "") -> Iterator[str]:
    """Yield the subcommands that a help text lists, in order. `called`: the words before `--help` that asked for it."""
    listed = dict.fromkeys(_braced(text))
    yield from listed | dict.fromkeys(_under_headings(text, called)) | dict.fromkeys(_in_usage(text, called))


def _in_usage(text: str, called: str) -> Iterator[str]:
    """Yield the commands of a usage with a row for each, as docopt reads it; two rows may name arguments instead."""
    rows = (row for row in _usage_rows(text) if called and row.startswith(f"{called} "))
    words = [row.removeprefix(f"{called} ").split(" ")[0].split("|") for row in rows]  # `new|n`, with a short name
    named = (max(ways, key=len) for ways in words if all(map(_ALIAS.fullmatch, ways)))
    names = dict.fromkeys(name for name in named if len(name) > 1)
    yield from names if len(names) >= FEWEST_ROWS else ()


def _under_headings(text: str, called: str) -> Iterator[str]:
    """Yield the names in lists of commands; lines that are indented more than the first go on with its description."""
    listing, margin, indent, arguments = False, 0, None, False
    for row in (_BULLET.sub(r"\1  ", row) for row in _with_own_headings(text.splitlines())):
        depth = len(row) - len(row.lstrip())
        outside = not depth or (depth <= margin if listing else _HEADING.match(row) is not None)
        if row.strip() and outside:
            listing, margin, indent = _HEADING.match(row) is not None, depth, None
            arguments = _POSITIONAL.match(row) is not None
        elif arguments and _METAVAR.match(row):
            listing, indent = True, None  # argparse lists subcommands below their placeholder
        elif listing and (found := _ENTRY.match(_without_call(row, called))):
            indent = len(found["indent"]) if indent is None else indent
            if len(found["indent"]) == indent and _is_entry(found["rest"]):
                names = [name.strip() for name in re.split(r"[,|]", found["words"])]
                # `a, add`: a letter stands for a name
                yield next((name for name in names if len(name) > 1), names[0])


def _with_own_headings(rows: Iterable[str]) -> Iterator[str]:
    """Yield the rows; of a list whose first entry is on the row of its heading, the entries below it."""
    column = 0
    for row in rows:
        if found := _WITH_ENTRY.match(row):
            column = found.end()
            yield "Commands:"
        elif row[:column].strip():
            column = 0
        yield f" {row[column:]}" if column and row.strip() else row


def _without_call(row: str, called: str) -> str:
    """Return a row of yargs' list without the program's name."""
    return re.sub(rf"^(\s+){re.escape(called)} ", r"\1", row) if called else row


def _is_entry(rest: str) -> bool:
    """Return True if what follows a name is nothing, arguments, or a description apart from it."""
    return not rest.strip() or rest[:2].isspace() or bool(re.match(r'[*:]?\s+(?:[\[<{(*"-]|[A-Z])|:\s', rest))


def _braced(text: str) -> list[str]:
    """Return argparse's subcommands in braces: those that are not the choices of an option."""
    for row in text.splitlines():
        for found in _BRACES.finditer(row):
            before = row[: found.start()].rstrip()
            if not before.endswith(("[", "=")) and not re.search(r"(?:^|[\s\[])-[\w-]+$", before):
                return found[1].split(",") if "," in found[1] or row.rstrip().endswith("...") else []
    return []


def _listed_options(text: str) -> Iterator[HelpOption]:
    """Yield the options that begin a row, but for those that the help tells are removed."""
    rows, of_the_past = text.splitlines(), False
    for number, row in enumerate(rows):
        of_the_past = _GONE.match(row) is not None if _SECTION.match(row) else of_the_past
        found = _SPEC.match(row)
        if found is None or of_the_past or _GONE.match(row):
            continue
        spec, _, description = re.sub(r"\s{2,}(?!-)", "\x00", found["spec"].strip(), count=1).partition("\x00")
        spec = re.sub(r"\s{2,}(?=-)", " ", spec)
        below = " ".join(_below(rows[number + 1 :]))
        for own in _switches(spec):
            if (option := _option(own, f"{description} {below}")) is not None:
                yield option


def _switches(spec: str) -> list[str]:
    """Return the two options of click's `-c, --current / -C, --no-current`, or the option itself."""
    both = spec.split(" / ")
    return both if len(both) == 2 and all(re.search(r"(?<![\w-])--\w", one) for one in both) else [spec]


def _below(rows: list[str]) -> Iterator[str]:
    """Yield the rest of a description: indented rows up to the next option or empty row."""
    for row in rows[:8]:
        if _SPEC.match(row) or not row.strip() or not row[:1].isspace():
            return
        yield row.strip()


def _option(spec: str, description: str) -> HelpOption | None:
    found = [match for match in _NAME.finditer(spec) if _is_name(spec, match.start())]
    names = dict.fromkeys(name for match in found for name in _both(match[1].rstrip(".,")))
    if not names:
        return None
    after = [spec[match.end() :] for match in found]
    takes = any(_VALUE.match(rest) or _ATTACHED.match(rest) for rest in after) or bool(_TYPED.search(description))
    takes = takes or (bool(description.strip()) and _WORD.match(after[-1]) is not None)
    choices = next((_split(match[1]) for way in _CHOICES[2:] if (match := way.search(spec))), ())
    choices = choices or next((_split(match[1]) for way in _CHOICES[:2] if (match := way.search(description))), ())
    default = _DEFAULT.search(description) or _IN_SENTENCE.search(description)
    takes = takes or bool(choices)
    ordered = tuple(sorted(names, key=lambda name: not name.startswith("--")))
    value = default[1] or default[default.lastindex or 1] if default else ""
    return HelpOption(ordered, takes, choices, value if takes else "")


def _is_name(spec: str, start: int) -> bool:
    """Return True if an option's name begins there: after a comma, a slash, a bar or a value, not in a sentence."""
    before = spec[:start].rstrip()
    words = before.split()
    return not words or before.endswith((",", "/", "|", "[")) or all(not word[:1].islower() for word in words)


def _both(name: str) -> tuple[str, ...]:
    """Return the two options that `--[no-]color` stands for, or the option itself."""
    return (name.replace("[no-]", ""), name.replace("[no-]", "no-")) if "[no-]" in name else (name,)


def _split(text: str) -> tuple[str, ...]:
    words = (word.strip().strip("\"'") for word in re.split(r"[,|]", text))
    return tuple(word for word in words if _CHOICE.fullmatch(word))


def _usage(text: str, called: str) -> Iterator[str]:
    """Yield the rows of the usage, without the call that they begin with."""
    for row in _usage_rows(text):
        yield row.removeprefix(called).strip() if row.startswith(called) else row


def _usages(text: str, called: str) -> Iterator[str]:
    """Yield each usage without its call, which may go on in rows that do not begin as the first one."""
    rows = [*_usage_rows(text)]
    starts = [number for number, row in enumerate(rows) if row.split()[:1] == rows[0].split()[:1]]
    for start, end in pairwise((*starts, len(rows))):
        yield " ".join(rows[start:end]).removeprefix(called).strip()


def _usage_rows(text: str) -> Iterator[str]:
    inside = begun = False
    for row in text.splitlines():
        usage = _USAGE.match(row)
        is_more = row.startswith((" ", "[")) if row.strip() else not begun  # an empty row may follow the heading
        inside = bool(usage) or (inside and is_more)
        line = (usage["line"] if usage else row).strip()
        begun = inside and bool(line)
        if begun:
            yield line


def _usage_options(text: str, called: str) -> Iterator[HelpOption]:
    """Yield options that only the usage names: `[--due DATE]`."""
    joined = " ".join(_usage(text, called))[:MOST_USAGE]
    for match in _IN_USAGE.finditer(joined):
        if (option := _option(match[1] + match[2], "")) is not None:
            yield option._replace(takes_value=option.takes_value or bool(match[2].strip()))


def _arguments(usage: str) -> Iterator[str]:
    """Yield the arguments that a line of the usage names, without options' values."""
    plain = re.sub(r"\[?--?[\w-]+(?:[ =](?:<[^>]*>|[A-Z][\w-]*|\{[^}]*\}))?\]?|\{[^}]*\}", " ", usage)
    for match in _ARGUMENT.finditer(plain):
        name = (match[1] or match[2]).strip()
        if name.upper() not in ("OPTIONS", "OPTION", "FLAGS", "COMMAND", "SUBCOMMAND", "ARGS", "COMMANDS"):
            yield name
