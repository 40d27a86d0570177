"""What a tool is tried on without any example: samples, texts, and numbers. Pure."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice, pairwise
from pathlib import PurePath

from tidegate.authoring.examples import IN_HISTORY, MOST_CHOICES, Candidate, Plan, is_about_git
from tidegate.authoring.option_calls import FOR_DATA, FOR_FILES, Try
from tidegate.authoring.samples import kind_of
from tidegate.authoring.shown_calls import shown_phrases
from tidegate.authoring.tool_inputs import MOST_KINDS
from tidegate.authoring.variations import in_turn
from tidegate.model.surface import Part

MOST_PHRASES = 20  # texts of documents and tests, as arguments
_CHOICES = re.compile(r"(?<![\w=-]) \[?\{([\w.-]+(?:,[\w.-]+)+)\}")
_TEXTS = (" \"C'est déjà l'été: 1,000 影 & #A_1\"", " ' Čšžů üÿß æø чшщЖ λω — “it’s” ½ 𝗄𝗆 '")
MOST_OF_OPTION = 2  # files for one that names them
_BEFORE_FILE = {
    "pattern|regexp?|search|query|string|term|word|keyword": ("Ada", "'[0-9]+'"),
    "program|prog|script|program-text": ("'{print $1}'", "'NR > 1'"),
    "expr|expression|filter|selector|xpath|jsonpath": (
        *("name", ".", "'$.name'", "'//name'", "'nested.key'", "'items[*].price'", "'tags[0]'", "'length(tags)'"),
        *("'.items[].price'", "'items[?id==`1`]'", "'[name, score]'", "'score > `1`'", "'sort(tags) | [-1]'", "'nope'"),
    ),
}


def main_use(binary: str, files: Sequence[str], texts: Iterable[str] = (), parts: Iterable[Part] = ()) -> Plan:
    """Return the plan that gives the tool these files, also by its options, and commits if its texts are about git."""
    texts = [*texts]
    choices = (word for text in texts for words in _CHOICES.findall(text) for word in words.split(","))
    commits = ("", " HEAD~1", " feature", " v1.0.0 main") if is_about_git(binary, texts) else ()
    forms = [
        [f"{IN_HISTORY}{binary}{commit}" for commit in commits],
        [f"{binary} {file}" for file in files],
        [f"{binary} < {file}" for file in files],
        [f"{binary} {name} {file}" for name, fit in _for_files(parts, files) for file in fit],
        [f"{binary} {file} {name} sample.json" for name in _for_data(parts) for file in files],
        [f"{binary} {file} other{PurePath(file).suffix}" for file in files[:MOST_KINDS]],
        [f"{binary} {one} {other}" for one, other in pairwise(files[:3])],
        [f"{binary}{word}" for word in ("", " samples/", " .", " 'two words'", *_TEXTS, " 42", " '1 + 2 * 3'")],
        [f"{binary} {word}" for word in islice(dict.fromkeys(choices), MOST_CHOICES)],
    ]
    if before := _words_before_file(binary, texts, r"[^\n]*?[ \[<{](?:file|path|dir|input)"):
        forms.insert(0, [f"{binary} {word} {file}" for file in files for word in before])
    elif alone := _words_before_file(binary, texts, r"\W*$"):  # and the input on stdin
        forms.insert(0, [f"{binary} {word} < {file}" for file in files[:MOST_KINDS] for word in alone])
    description = f"`{binary}` does its main work on samples."
    stdin = f"{binary} <"
    tries = tuple(
        Try(ways=(line, line.replace(stdin, f"{binary} - <")) if line.startswith(stdin) else (line,), wants="prints")
        for line in in_turn(map(iter, forms))
    )
    return Plan(Candidate("main_use", description, ()), tries)


def _for_files(parts: Iterable[Part], files: Sequence[str]) -> Iterator[tuple[str, Sequence[str]]]:
    """Yield the options that take a file, each with those of the kind that its default has, or the first ones."""
    for part in (part for part in parts if part.kind == "option" and part.takes_value and not part.choices):
        if kind := kind_of(part.default):
            yield part.name, [file for file in files if kind_of(file) == kind]
        elif FOR_FILES.search(part.name):
            yield part.name, files[:MOST_OF_OPTION]


def _for_data(parts: Iterable[Part]) -> list[str]:
    """Return the options that take the data of a template."""
    return [part.name for part in parts if part.kind == "option" and part.takes_value and FOR_DATA.search(part.name)]


def _words_before_file(binary: str, texts: Sequence[str], after: str) -> tuple[str, ...]:
    """Return arguments for what the usage has before a match of `after`, such as a pattern before a file."""
    usage = rf"(?im)^\W*usage:?\s+{re.escape(binary)}\b[^\n]*?[ \[<{{](?:%s)s?\b{after}"
    found = (words for names, words in _BEFORE_FILE.items() for text in texts if re.search(usage % names, text))
    return next(found, ())


def phrases(binary: str, code: Iterable[str], texts: Iterable[str]) -> Plan:
    """Return the plan that gives the tool the phrases in documents and in the code of tests."""
    lines = [f"{binary} {shlex.quote(phrase)}" for phrase in shown_phrases(texts, code)[:MOST_PHRASES]]
    tries = tuple(Try(ways=(line,), wants="prints") for line in lines)
    return Plan(Candidate("phrases", f"`{binary}` works on texts of the docs and tests.", ()), tries)
