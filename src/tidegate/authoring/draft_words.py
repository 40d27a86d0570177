"""The task of a draft in plain words, from the help's descriptions of what its calls use. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import takewhile
from typing import NamedTuple

from tidegate.authoring.draft_attempts import call_in, made, split
from tidegate.model.surface import Part
from tidegate.surface.parts import command_of, commands

_LISTED = (
    "add append apply archive assign attach build cancel change check checkout clear clone close collect combine "
    "commit compare compute convert copy count create delete describe detect disable display do draw drop dump edit "
    "emit enable exclude execute export extract fetch filter find format generate get give group ignore import include "
    "indent insert install interpret itemize join keep limit link list load lock make mark match merge move omit "
    "open output overwrite parse pick prepare prepend preserve print process produce put query quote read record "
    "remove rename render reopen reorder repeat replace report reset restore return reverse run save say search "
    "select send separate set show skip sort specify split start stop store strip summarize suppress switch tag "
    "take test transform treat trim truncate turn undo unlink unstage update upsert use validate verify view wrap "
    "write"
)
_VERBS = frozenset(_LISTED.split())
_OF_BOTH = "count format output query record report start test"
_AFTER_VERBS = "a adjacent all an any each every input it its no nothing only out output the these this to"
_NOUNS, _AFTER_VERB = frozenset(_OF_BOTH.split()), frozenset(_AFTER_VERBS.split())
_GROUPS = re.compile(r"\s*(?:\([^()]*\)|\[[^\[\]]*\])")
_SENTENCE = re.compile(r"[.;](?:\s|$)|, (?:prints|returns|outputs) ")


class Help(NamedTuple):
    """What is known of a tool. `pages`: its help by subcommand; '' is the tool itself."""

    tool: str
    pages: Mapping[str, str]
    parts: Sequence[Part]

    def command(self, name: str) -> str:
        """Return what the subcommand does; its name if the help does not tell. '': what the tool does."""
        if not name:
            return sentence(_about(self.pages.get("", "")))
        parent, _, own = name.rpartition(" ")
        called = re.escape(f"{self.tool} {parent}".strip())
        row = rf"^\s{{1,10}}(?:{called} )?{re.escape(own)}(?:,? ?[\w-]+)?\*?(?P<rest>(?:\s+[\[<(][^\n]*?[\]>)])*)"
        found = re.search(rf"{row}:?(?:\s{{2,}}|\s(?=[A-Z]))(?P<what>\S.*)$", self.pages.get(parent, ""), re.MULTILINE)
        told = found["what"] if found else _about(self.pages.get(name, ""))
        return sentence(told) or own.replace("-", " ").replace("_", " ")

    def option(self, command: str, part: Part) -> str:
        """Return the option's description in the help; '' if it has none."""
        names = "|".join(map(re.escape, (part.name, *part.aliases)))
        for page in (self.pages.get(command, ""), self.pages.get("", "")):
            rows = page.splitlines()
            for number, row in enumerate(rows):
                if re.match(rf"\s+(?:-[\w-]+(?:[ =]\S+)?[,/ ] *)*(?:{names})(?![\w-])", row):
                    _, _, told = re.sub(r"(?<=\S)\s{2,}(?!-)", "\0", row).partition("\0")
                    below = takewhile(lambda one: re.match(r"\s{8,}[^\s-]", one), rows[number + 1 :])
                    return sentence(" ".join([told, *below]))
        return ""

    def clause(self, command: str, part: Part, value: str) -> str:
        """Return what the option asks for, with its value."""
        told = self.option(command, part)
        if _asks(told):
            return f"{told}: {quoted(value)}" if value else told
        noun = part.name.lstrip("-").replace("-", " ").replace("_", " ")
        return f"with the {noun} {quoted(value)}" if value else f"with the option {noun}"


def _asks(text: str) -> bool:
    """Return True if the text begins with a verb, not with a noun such as `start date`."""
    first, _, rest = text.partition(" ")
    return first in _VERBS and (first not in _NOUNS or rest.partition(" ")[0] in _AFTER_VERB)


def sentence(text: str) -> str:
    """Return the first sentence without what is in brackets, as a request: `Shows all.` becomes `show all`."""
    plain = " ".join(_GROUPS.sub("", text).split())
    plain = _SENTENCE.split(plain, maxsplit=1)[0].strip(" .:,").removesuffix(" and exit")
    first, _, rest = plain.partition(" ")
    word = next((one for one in _stems(first.lower()) if one in _VERBS), None)
    if word is None:
        return plain
    return f"{word} {rest}".strip()


def _stems(word: str) -> Iterator[str]:
    yield word
    if word.endswith("ies"):
        yield f"{word[:-3]}y"
    yield from (word.removesuffix(end) for end in ("s", "es") if word.endswith(end))


def _about(page: str) -> str:
    """Return what describes the program in a help text: the first sentence that is not usage, a heading or a list."""
    for block in re.split(r"\n\s*\n", page):
        text = " ".join(block.split())
        if re.match(r"(?i)usage\b|-|\S+( \S+)?:( |$)", text) or len(text.split()) < 2:
            continue
        return re.sub(r"^\S+(?: \S+)? (?:-|--|—|–) ", "", text)
    return ""


def usage(page: str) -> str:
    """Return the usage of a help text, of one line or more."""
    found = re.search(r"(?im)^\s*usage:?[^\n]*(?:\n[ \t]+\S[^\n]*)*", page)
    return found[0] if found else ""


def task(lines: Sequence[str], known: Help, output: str = "") -> str:
    """Return the task that these command lines do. `output`: the file that keeps what the last one prints."""
    steps = [phrase(made(line), known) + _of_step(line, lines) for line in lines]
    if output:
        steps[-1] += f". Write the result to {output}"
    if len(steps) == 1:
        return f"Use `{known.tool}`. {steps[0]}."
    return "\n".join([f"Use `{known.tool}` for this:", "", *(f"{n}. {one}." for n, one in enumerate(steps, 1))])


def _of_step(line: str, lines: Sequence[str]) -> str:
    """Return which results of other lines this one uses."""
    named = [re.match(r"(\w+)=\$\(", one) for one in lines]
    used = [n for n, one in enumerate(named, 1) if one and re.search(rf"\${one[1]}\b", line)]
    return f", for the result of step {' and '.join(map(str, used))}" if used else ""


def phrase(line: str, known: Help) -> str:
    """Return what one command line does: what its subcommand does, with its arguments and options."""
    place = call_in(line, known.tool)
    words = split(line[place[0] : place[1]])[1:] if place else []
    command = command_of(words, commands(known.parts))
    given = [*_given(words[len(command.split()) :], command, known)]
    values = [quoted(word) for part, word in given if part is None and not word.startswith("$")]
    clauses = [known.clause(command, part, word) for part, word in given if part is not None]
    requests = [one for one in clauses if not command and _asks(one)]
    what = requests[0] if requests else known.command(command)
    after = ", for " if requests else ": "
    what = what[:1].upper() + what[1:] + (after + ", ".join(values) if values else "")
    told = [one for one in clauses if one not in requests[:1]]
    source = _source(line[: place[0]] if place else "")
    return ", ".join([what, *told, *filter(None, [source])])


def _given(words: Sequence[str], command: str, known: Help) -> Iterator[tuple[Part | None, str]]:
    """Yield options with their values, '' for a switch, and other arguments without an option."""
    own = [part for part in known.parts if part.kind == "option" and part.command in (command, "")]
    waiting = list(words)
    while waiting:
        word = waiting.pop(0)
        name, equals, value = word.partition("=")
        part = next((one for one in own if name in (one.name, *one.aliases)), None)
        if part is not None and part.takes_value and not equals:
            value = waiting.pop(0) if waiting else ""
        if part is None and word.startswith("-"):
            part = Part(kind="option", name=name)
        yield part, value if part is not None else word


def _source(before: str) -> str:
    """Return where the call's input comes from: a text that `echo` prints, or a file."""
    found = re.search(r"(?:echo|printf|cat) (?P<rest>.+)\|\s*$", before)
    words = split(found["rest"]) if found else []
    if not words or found is None:
        return ""
    return f"for the input {quoted(words[-1])}"


def quoted(word: str) -> str:
    """Return the word as a person quotes it."""
    return f"“{word}”"
