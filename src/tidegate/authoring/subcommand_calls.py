"""Plans calls of a tool's subcommands: what adds comes first, what lists, changes and removes after it. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from itertools import islice

from tidegate.authoring.examples import Candidate, Plan
from tidegate.authoring.option_calls import UNFIT, Try
from tidegate.authoring.samples import kind_of
from tidegate.model.surface import Part

MOST_SUBCOMMANDS = 24
MOST_FINDING, MOST_ADDING = 3, 2  # subcommands that look for words, and that add another entry
MOST_FILES = 2  # inputs of a subcommand that takes others
MOST_OPTIONS = 6  # of a subcommand, that are given at once
FIRST_WAYS = 3  # that each subcommand gets before any gets another
# What subcommands do by their usual names, in the order in which they are tried.
_ADDS = re.compile(r"add|a|new|create|set|insert|put|save|start|init|append|push|import|log|write|record|track")
_READS = re.compile(r"list|ls|show|get|status|all|report|view|print|dump|count|stats|search|find|export|tree|next")
_FINDS = re.compile(r"search|find|grep|query|filter|lookup|list|ls")
_CHANGES = re.compile(r"edit|update|rename|move|mv|prepend|replace|modify|tag|pri")
_ENDS = re.compile(r"done|do|complete|pause|stop|finish|close")
_REMOVES = re.compile(r"rm|remove|del|delete|clear|reset|cancel|drop|undo|archive")
UNFIT_COMMANDS = re.compile(r"help|completions?|server?|edit|open|watch|shell|repl|prompt|login|upgrade|self")
_RENAMES = re.compile(r"rename|move|mv")
_MESSAGE = re.compile(r"\[<?(message|text|content|note|body|description)>?\]", re.IGNORECASE)
_TEXTS = ("'Buy milk'", "first 'Buy milk'", "first 2")
_WORDS = ("milk", "MILK", "irs", "Ada")  # that are in these texts, or in their names
_OTHER_TEXTS = ("'Call Ada'", "second 'Call Ada'", "second 5")
_LAST_TEXTS = (  # what there is when options are tried
    ("'Send 3 letters'", "third 'Send 3 letters'", "third 7"),
    ("'(B) Ask Bea +home @phone due:2037-05-06'", "fourth 'Ask Bea +home @phone due:2037-05-06'", "fourth 3"),
    ("'Buy Brötchen & 影'", "fifth 'Buy Brötchen & 影'", "fifth 8"),
)


def state(binary: str, parts: Sequence[Part], texts: Sequence[str] = (), files: Sequence[str] = ()) -> Plan:
    """Return the plan that calls the subcommands: those that add, then those that list, change and remove.

    `texts`: help texts, which may show the arguments. `files`: inputs, the fittest first.
    """
    names = [part.name for part in parts if part.kind == "subcommand" and " " not in part.name]
    names = [name for name in names if not UNFIT_COMMANDS.fullmatch(name)]
    kinds = (_ADDS, _READS, _CHANGES, _ENDS, _REMOVES) if any(map(_ADDS.fullmatch, names)) else (_READS,)
    usual = re.compile("|".join(kind.pattern for kind in kinds))
    others = re.compile("|".join(re.escape(name) for name in names if not usual.fullmatch(name)) or r"(?!)")

    def calls(known: re.Pattern[str], most: int, *ways: str) -> list[Try]:
        return [
            _call(
                binary, name, (*ways, _all_options(name, parts)), _arguments(binary, name, parts, texts, any(ways[:1]))
            )
            for name in [name for name in names if known.fullmatch(name)][:most]
        ]

    listing = [one.model_copy(update={"wants": "prints"}) for one in calls(_READS, 5, "", "first", "1", "Ada")]
    tries = [*calls(_ADDS, 3, *_TEXTS, "sample.txt", ""), *calls(_ADDS, MOST_ADDING, *_OTHER_TEXTS)]
    tries += [Try(ways=one.ways[-1:]) for one in calls(_ADDS, 3) if " -" in one.ways[-1]]
    usual_ways = ("", *files[:2], "sample.txt", "'two words'", "first", "1", " ".join(files[:2]))
    finding = [name for name in names if _FINDS.fullmatch(name)][:MOST_FINDING]
    each = calls(others, MOST_SUBCOMMANDS, *usual_ways)
    tries += [*listing, *(Try(ways=one.ways[:FIRST_WAYS], more=one.ways[FIRST_WAYS:], wants=one.wants) for one in each)]
    for file in (*files[:MOST_FILES], "samples/"):  # without one, it may have read an empty stdin
        reading = (f"{binary} {name} {file}" for name in names if others.fullmatch(name))
        tries += [Try(ways=(line,), wants="prints") for line in islice(reading, MOST_SUBCOMMANDS)]
    tries += [Try(ways=(f"{binary} {name} {word}",)) for word in _WORDS for name in finding]
    for added, group in zip(_LAST_TEXTS, (_CHANGES, _ENDS, _REMOVES), strict=True):  # an earlier one may leave nothing
        ways = ("1", "first", "1 'Call Bea'", "first 'Call Bea'", "1 A", "")
        own = [_of_entry(one, added[1].split()[0]) for one in calls(group, 5, *ways)]
        again = [one.model_copy(update={"wants": "changes"}) for one in listing[:2]]
        read = [one for call in own for one in (call, *again)]
        tries += [*calls(_ADDS, MOST_ADDING, *added), *again[:1], *read] if own else []
    last = [*(one for added in _LAST_TEXTS for one in calls(_ADDS, MOST_ADDING, *added)), *listing]
    tries += [one.model_copy(update={"last": True}) for one in last]
    return Plan(Candidate("subcommands", f"The subcommands of `{binary}` work together.", ()), tuple(tries))


def _call(binary: str, name: str, ways: Sequence[str], known: Sequence[str]) -> Try:
    """Return the call of a subcommand with its arguments if they are known, or with one of these."""
    given = [" ".join(map(_value, known))] if known else []
    if ways[0].startswith("'"):  # a text, and the same with a name before it
        given = [_named(one, ways[1].split()[0]).replace(_TEXTS[0], ways[0]) for one in given]
    lines = dict.fromkeys(f"{binary} {name} {way}".strip() for way in [*given, *ways])
    return Try(ways=tuple(lines), wants="works")


def _named(words: str, name: str) -> str:
    """Return the words with this name of an entry in place of the usual one."""
    return re.sub(r"(?<![\w'])first\b", name, words)


def _of_entry(call: Try, name: str) -> Try:
    """Return the call with the name of the entry that was added last; what renames gets a new name, too."""
    first, *ways = (_named(way, name) for way in call.ways)
    binary, command, *arguments = first.split()
    renamed = [f"{binary} {command} {name} other"] if _RENAMES.fullmatch(command) else []
    ways = [first, *renamed, *ways] if len(arguments) > 1 else [*renamed, first, *ways]
    return call.model_copy(update={"ways": tuple(ways)})


def _all_options(name: str, parts: Iterable[Part]) -> str:
    """Return the options of the subcommand that take a value, each with one that fits its name."""
    own = [part for part in parts if part.kind == "option" and part.command == name and part.takes_value]
    fit = [part for part in own if not UNFIT.match(part.name)][:MOST_OPTIONS]
    return " ".join(f"{one.name} {one.choices[0] if one.choices else _value(one.name.strip('-'))}" for one in fit)


def _arguments(binary: str, name: str, parts: Sequence[Part], texts: Iterable[str], optional: bool) -> list[str]:
    """Return the arguments of a subcommand that its help lists; else those of the first row that shows its call.

    `optional`: if it requires none, others.
    """
    own = [part for part in parts if part.kind == "argument" and part.command == name]
    listed = [part.name for part in own if part.required] or [part.name for part in own if optional]
    row = re.compile(
        rf"^\s*(?:\w+: )?(?:{re.escape(binary)} )?{re.escape(name)}(?:\|[a-z]+)?"
        r"((?: +(?:\[[^\]]*\]|<[\w .-]+>|[A-Z][A-Z_-]*|\"[^\"\n]+\"))+)",
        re.MULTILINE,
    )
    rows = (_MESSAGE.sub(r"<\1>", found[1]) for text in texts for found in row.finditer(text))
    shown = next((re.sub(r"\[[^\]]*\]", "", one) for one in rows), "")
    return listed or [one.strip('<>"') for one in re.findall(r'<[^>]+>|"[^"]+"|\S+', shown)]


def _value(argument: str) -> str:
    """Return a value for an argument by its name."""
    argument = argument.lower()
    if kind := kind_of(argument):
        return f"other{kind}" if "2" in argument else f"sample{kind}"
    if re.search(r"file|path|input|source|dest", argument):
        return "sample.txt"
    if re.fullmatch(r"nr|no|n|i|idx|\W*(?:num\w*|count|amount|size|index|(?:\w+[ _-])?id)(?: ?\d)?\W*", argument):
        return "1"
    return "first" if re.search(r"key|name|tag|project", argument) else "'Buy milk'"
