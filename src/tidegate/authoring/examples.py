"""Collects what a first suite can try: examples of the docs and of the help, and calls that the help suggests. Pure
but for reading documents.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from glob import escape
from itertools import islice
from pathlib import Path, PurePath
from typing import Any, NamedTuple

from tidegate.agents.doc_follower import SUFFIXES
from tidegate.agents.instructions import PLAIN_PROGRAMS, Block, address, blocks, foreign, markdown_of, synopsis
from tidegate.agents.invocations.shell_grammar import ShellLine
from tidegate.authoring.found import Kind
from tidegate.authoring.option_calls import SEVERAL, Try
from tidegate.authoring.samples import HISTORY, kind_of
from tidegate.authoring.survey import find_scripts, find_test_code
from tidegate.authoring.variations import in_turn
from tidegate.model.surface import Part

HELP = "help"  # the name of the scenario that asks for it
MOST_SCENARIOS, MOST_FOLLOWED = 8, 4
MOST_COMMANDS = 40
MOST_UNITS, MOST_OF_UNIT = 30, 12  # scripts that are run as a whole, and lines of one
MOST_OF_SCRIPT, MOST_IN_SCRIPTS = 8, 80  # calls in a script, and in all
MOST_MARKED, MOST_QUOTED = 12, 2  # options of documents that are tried, and values of one with signs
MOST_CHOICES = 6  # words that a usage lists, which a tool is given
MOST_CHARACTERS, BEGINNING = 200_000, 1_500
IN_HISTORY = f"sh {HISTORY} work && cd work && "
_DOCUMENTS = (
    *("README*", "[rR]eadme*", "USAGE*", "docs/[uU]sage*", "docs/*[qQ]uick*", "docs/index.*"),
    *("docs/**/*[tT]utorial*", "docs/**/*[gG]etting*tarted*", "docs/**/*[cC]ommand*", "docs/*", "doc/*", "man/*"),
)
_PLAIN = ("README", "README.txt")
_ASCIIDOC = (".adoc", ".asciidoc")
_LISTING = re.compile(r"^(?:\[source,? ?(\w*)[^\]\n]*\]\n)?-{4,}\n(.*?)\n-{4,}$", re.MULTILINE | re.DOTALL)
_OF_COMMANDS = re.compile(r"^```(?:test|example|usage|commands?|terminal|cli|run)\b[^\n`]*$", re.MULTILINE)
_TRANSLATED = re.compile(r"(?i)readme[._-][a-z]{2,3}(?:[-_][a-z]{2,4})?$")
GUIDES = ("AGENTS.md", "CLAUDE.md")
_ABOUT_ITSELF = re.compile(r" (?:--?help|-h|help|--?version|-V|version)\b")
_PROSE = re.compile(r"(?: [a-z]+){4}|[a-z]\.$")
_BASH = re.compile(r"<\(|<<<|=\(|\[\[|\$'|\b(?:declare|local|function|source|shopt) ")
_CAPTURED = re.compile(r"""(?m)^\s*(?:local )?\w+="?\$\((.*)\)"?$""")
_PATH = re.compile(r"(?<![\w./$-])\w[\w-]*(?:[./][\w-]+)*(?![\w./-])")
_OF_GIT = re.compile(r"(?i)\bgit[ -](?:repo|log|commit|history|blame)|\bcommit messages|\bconventional commits")
_LITERAL = re.compile(r"""(["'])((?:(?!\1)[^\\\n]|\\.)*)\1""")
_LIST = re.compile(r"""[\[(]\s*+(?:(?:"(?:[^"\\\n]|\\.)*+"|'(?:[^'\\\n]|\\.)*+')\s*+,?+\s*+)++[\])]""")
_VALUES = r"[\w-]+(?:,\s+(?:or\s+)?[\w-]+)+"
_UNTIL_OR = r":\s+(?=\S)((?:[\w-]+(?: \(default\))?,? )+or <?[\w-]+>?)(?=[.)]?\s*$)"  # `a (default), b or <file>`
_ON_OWN_ROWS = rf"[^\n]*\n[ \t]{{8,}}({_VALUES}),?[ \t]*$"  # below the description
_NO_VALUE = re.compile(r"\(default\)|<[\w-]+>")
_IN_PARENTHESES = rf"\(({_VALUES})\)"
_AFTER_COLON = rf"(?i:values|one of|choices|formats?|supported|available)(?: are)?:\s+({_VALUES}|[\w-]+ or [\w-]+)"
_SETS = (
    r"(?i:(?:explicitly )?(?:set|specify|define)s? [^.\n]*\b(?:number|character|list|name|file|path|value|string)s?\b)"
)
_KEYED = re.compile(r"(?<![\w.-])([\w-]+) ?=>? ?[a-z]+")  # `0=>unchanged, 1=>lowercase`
_BUNDLE = re.compile(r"\[ ?-(?=\d*[A-Za-z])([A-Za-z\d]{3,40}) ?\]")
_HOME = re.compile(r"(?<![^\s'\"=@])~/(?=\w)")
_NO_WORD = re.compile(r"[^\w-]")
_WITH_VALUE = re.compile(r"\[ ?(-[A-Za-z]) [a-z_]+ ?\]")
_MARKED = re.compile(r"`(-[A-Za-z]|--[a-z][\w-]+)(?:[ =](<?\w+>?))?`")
_COMMIT = re.compile(r"\b(?=[a-f]*\d)[0-9a-f]{7,40}\b")


class Candidate(NamedTuple):
    """Commands that may become a scenario, and the files that they need, by their name in the workspace.

    `more` are commands of gates alone; `gates` are those that are known before the commands run.
    """

    name: str
    description: str
    commands: tuple[str, ...]
    more: tuple[str, ...] = ()
    files: Mapping[str, str] = {}
    gates: tuple[dict[str, Any], ...] = ()
    guidance: tuple[str, ...] = ()  # documents to follow instead of commands
    kinds: Mapping[str, Kind] = {}  # of those of `more`
    statuses: tuple[int, ...] = ()  # other than 0, with which calls of the agent end
    skip: tuple[str, ...] = ()  # commands of the documents that fail
    binary: str = ""  # another program than the suite's tool
    is_help: bool = False  # it asks the tool for its help, and for what it refuses


class Plan(NamedTuple):
    """What is tried for one candidate."""

    candidate: Candidate
    tries: tuple[Try, ...]


def documented(root: Path, where: str, binary: str) -> Iterator[Plan]:
    """Yield a plan for each document with examples, in their order: later ones may need what earlier ones leave."""
    taken: set[str] = set()
    for path in _documents(root, where, binary):
        found = blocks(called_by_name(_text(path), binary), binary, indented=True)
        lines = dict.fromkeys(line for block in found for line in _runnable(block, binary))
        fresh = [line for line in lines if line not in taken][:MOST_COMMANDS]
        if fresh:
            taken |= {*fresh}
            document = path.relative_to(root).as_posix()
            yield _plan(slug(path.stem), f"What {document} shows works.", fresh)


def in_help(binary: str, pages: Iterable[str]) -> Plan:
    """Return the plan for the calls that help pages show as examples."""
    name = re.escape(binary)
    row = re.compile(rf"(?m)^\s*(?:[$>#%] )?((?:[^|\n]+\| *{name}(?: \S+)*|{name}(?: \S+)+))(?=$| {{2}}| +#)")
    rows = dict.fromkeys(found for page in pages for found in row.findall(page) if not _PROSE.search(found))
    shown = "\n".join(f"$ {one}" for one in rows)
    found = (line for block in blocks(f"~~~~console\n{shown}\n~~~~", binary) for line in _runnable(block, binary))
    return _plan("examples", f"What the help of `{binary}` shows works.", [*dict.fromkeys(found)][:MOST_COMMANDS])


def code_of_tests(root: Path) -> tuple[str, ...]:
    """Return the code of tests, and their data in JSON."""
    return tuple(path.read_text(encoding="utf-8", errors="replace") for path in find_test_code(root))


def in_scripts(root: Path, where: str, binary: str, first: Collection[str], code: Iterable[str]) -> Plan | None:
    """Return the plan for the calls in scripts of tests and demos, and in this code; None if there are none.

    `first`: the tool's subcommands and options, one of which a list of arguments in code begins with.
    """
    whole: list[str] = []
    calls: list[Iterator[str]] = []
    for text in code:
        calls.append(iter(_with_new_words_first(calls_in_code(text, binary, first))))
    for path in find_scripts(root / where):
        text = called_by_name(_CAPTURED.sub(r"\1", path.read_text(encoding="utf-8", errors="replace")), binary)
        script = blocks(f"~~~~sh\n{text}\n~~~~", binary)
        lines = (line for block in script for line in _runnable(block, binary))
        calls.append(_from_root(line, path.parent, root) for line in islice(lines, MOST_OF_SCRIPT))
        whole += [
            unit for block in script if path.suffix != ".bats" and (unit := _unit(block, path.parent, root, binary))
        ]
    fresh = [*islice(dict.fromkeys((*whole[:MOST_UNITS], *in_turn(calls))), MOST_IN_SCRIPTS)]
    return _plan("scripts", f"What tests and demos do with `{binary}` works.", fresh) if fresh else None


def _from_root(line: str, folder: Path, root: Path) -> str:
    """Return the line with paths from the root in place of those of files in this folder."""

    def path(word: re.Match[str]) -> str:
        return (folder / word[0]).relative_to(root).as_posix() if (folder / word[0]).is_file() else word[0]

    return _PATH.sub(path, line)


def _unit(block: Block, folder: Path, root: Path, binary: str) -> str:
    """Return the script as one command, in a folder of its own with the files that it reads; '' if it has one call."""
    lines = [line for line in block if not (line.unfit or foreign(line, binary))][:MOST_OF_UNIT]
    text = "\n".join(line.text for line in lines)
    if sum(bool(line.calls) for line in lines) < 2 or _BASH.search(text):
        return ""
    files = [(folder / name).relative_to(root).as_posix() for name in _PATH.findall(text) if (folder / name).is_file()]
    copied = f"d=$(mktemp -d); cp {shlex.join(dict.fromkeys(files))} $d; cd $d"
    return f"{copied if files else 'cd $(mktemp -d)'}\n{text}"


def _with_new_words_first(lines: Iterable[str]) -> list[str]:
    """Return the lines, first those with an option or another short word that no earlier line has."""
    known: set[str] = set()
    found: list[str] = []
    others: list[str] = []
    for line in lines:
        words = {*re.findall(r"(?<![^\s'=])-{0,2}[a-z][\w-]*(?![^\s'=])", line)} - known
        known |= words
        (found if words else others).append(line)
    return [*found, *others]


def calls_in_code(text: str, binary: str, first: Collection[str]) -> Iterator[str]:
    """Yield the calls of the tool in a test: lists of strings that begin with one of these words, with its name, or
    with a path or an address and have one of these options; and strings that begin with its name.
    """
    options = {word for word in first if word.startswith("-")}
    for found in _LIST.finditer(text):
        words = [literal.replace("\\n", "\n") for _, literal in _LITERAL.findall(found[0])]
        words = words[1:] if words and PurePath(words[0]).stem == binary else words
        if (
            words
            and (words[0] in first or (_NO_WORD.search(words[0]) and not options.isdisjoint(words)))
            and "" not in words
            and not any("{" in word and "}" in word and '"' not in word for word in words)
        ):
            yield shlex.join([binary, *words])
    for _, literal in _LITERAL.findall(text):
        if literal.startswith(f"{binary} ") and not re.search(r"[{}$%\\]|\s[a-z]+ [a-z]+ [a-z]+ [a-z]+", literal):
            yield literal


def _plan(name: str, description: str, lines: Sequence[str]) -> Plan:
    tries = (Try(ways=tuple(dict.fromkeys((line, _HOME.sub("", line))))) for line in lines)
    return Plan(Candidate(name, description, tuple(lines)), tuple(tries))


def without_addresses(plan: Plan) -> Plan:
    """Return the plan without the lines that name other systems: with a network, these would do something there."""
    return plan._replace(tries=tuple(one for one in plan.tries if not any(map(address, one.ways))))


def is_about_git(binary: str, texts: Iterable[str]) -> bool:
    """Return True if the tool is one about git repositories, by its name or the beginning of its texts."""
    return binary.startswith("git-") or any(_OF_GIT.search(text[:BEGINNING]) for text in texts)


def in_history(plan: Plan) -> Plan:
    """Return the plan, with each line that fails tried in a git repository, with a branch for each commit."""
    tries = []
    for one in plan.tries:
        ways = (IN_HISTORY + _COMMIT.sub("feature", way) for way in one.ways)
        tries.append(one.model_copy(update={"ways": (*one.ways, *ways)}))
    return plan._replace(tries=tuple(tries))


def usage_options(parts: Sequence[Part], text: str) -> tuple[Part, ...]:
    """Return the parts of the tool, and the options that its usage bundles: `[ -abC ] [ -d folder ]`."""
    found: dict[str, Part] = {}
    bundled = {
        letters for letters in _BUNDLE.findall(text) if letters.lower() != letters or [*letters] == sorted(letters)
    }
    if bundled:
        found = {f"-{letter}": Part(kind="option", name=f"-{letter}") for letter in "".join(sorted(bundled))}
        found |= {name: Part(kind="option", name=name, takes_value=True) for name in _WITH_VALUE.findall(text)}
    names = {name for part in parts for name in (part.name, *part.aliases)}
    kept = (part for part in parts if part.name.removeprefix("-") not in bundled)
    return *kept, *(part for name, part in found.items() if name not in names)


def documented_options(parts: Sequence[Part], texts: Iterable[str], manual: Iterable[Part] = ()) -> tuple[Part, ...]:
    """Return the parts of the tool, and options that its manual lists or its documents mark as code, and its help does
    not list.
    """
    names = {name for part in parts for name in (part.name, *part.aliases)}
    options = [part for part in manual if part.kind == "option"]
    letters = {name[1:] for part in options for name in (part.name, *part.aliases) if len(name) == 2}
    words = (part.name for part in options if part.name[1] != "-" and len(part.name) > 2)
    bundles = {name for name in words if len(letters & {*name}) > 1}
    own = [part for part in options if names.isdisjoint((part.name, *part.aliases)) and part.name not in bundles]
    parts = (*parts, *own)
    names |= {name for part in own for name in (part.name, *part.aliases)}
    marked = (found for text in texts for found in _MARKED.findall(text))
    takes = {name: bool(value) for name, value in marked if name not in names}
    more = (Part(kind="option", name=name, takes_value=value) for name, value in takes.items())
    return *parts, *islice(more, MOST_MARKED)


def with_choices(part: Part, texts: Sequence[str]) -> Part:
    """Return the option with the values that its description lists, if no others are known; as a switch, if it lists
    none and its value may be left out: `--comments [filter]`. One that sets something takes a value, if shown or not.
    """
    sets = re.compile(rf"(?m)^\s*(?:-\w, ?)?{re.escape(part.name)}(?:, ?-\w)? {{2,}}(?:[^\n]*\. )?{_SETS}")
    name = rf"(?<![\w-]){re.escape(part.name)}"
    if part.kind == "option" and any(map(sets.search, texts)):
        part = part.model_copy(update={"takes_value": True})
    if part.kind == "option" and any(re.search(rf"{name} (?:\S+ )?\[\S+ \.\.\.\]", text) for text in texts):
        part = part.model_copy(update={"limits": SEVERAL})
    signs = next(filter(None, (re.search(rf"{name} \{{([^\s{{}}]+)\}}", text) for text in texts)), None)
    if part.kind == "option" and signs and not part.choices:
        part = part.model_copy(update={"takes_value": True, "choices": tuple(filter(None, signs[1].split(",")))})
    if part.kind == "option" and any(re.search(rf"{name}[ =]\W?(?i:bool(?:ean)?)\b", text) for text in texts):
        part = part.model_copy(update={"choices": part.choices or ("true", "false")})
    if part.kind != "option" or not part.takes_value or part.choices:
        return part
    until = r"(?:(?!\n\s*-)[\s\S])"  # not beyond the next option
    listed = rf"{until}{{0,80}}?(?:{_IN_PARENTHESES}|{_AFTER_COLON}|{_UNTIL_OR}|{_ON_OWN_ROWS})"
    row = re.compile(rf"(?m)(?<![\w-]){re.escape(part.name)}[ =,](?:{listed}|({until}{{0,300}}))")
    found = (one for text in texts for one in row.finditer(text))
    values = (_words(next(filter(None, one.groups()[:4]), "")) or _named_values(one[5]) for one in found)
    under = (_under_heading(part.name.lstrip("-"), text) for text in texts)
    choices = next((tuple(one) for one in (*values, *under) if one), ())
    left_out = re.compile(rf"(?m)^\s*(?:-\w, )?{re.escape(part.name)}(?: \[|\[=)<?\w[^]\n]*\](?: {{2}}|$)")
    takes = bool(choices or part.default or part.limits == SEVERAL) or not any(map(left_out.search, texts))
    return part.model_copy(update={"choices": choices, "takes_value": takes})


def with_shown_values(part: Part, texts: Sequence[str], pages: Sequence[str] = ()) -> Part:
    """Return the option with the values that docs and tests give it, if its help lists none: the `pages` of the help
    may show some in quotes.
    """
    if part.kind != "option" or not part.takes_value or part.choices or part.default.isdecimal():
        return part
    names = "|".join(map(re.escape, (part.name, *part.aliases)))
    word = re.escape(part.name.lstrip("-").replace("-", "_"))  # of an argument in code
    ways = rf"(?<![\w-])(?:(?:{names})(?:[ =]|['\"], *(?:\w+\()?['\"])|{word} ?[=:] ?['\"])([a-z0-9][\w.:/-]*)"
    quoted = rf"(?<![\w-])(?:{names})(?:[ =]|['\"], *)(?:'([^'\n$`]*[^\w'\n$`][^'\n$`]*)'|\"([^\"\n$`]* [^\"\n$`]*)\")"
    several = (value for text in (*texts, *pages) for found in re.findall(quoted, text) for value in found if value)
    shown = dict.fromkeys(
        (*islice(several, MOST_QUOTED), *(value for text in texts for value in re.findall(ways, text)))
    )
    return part.model_copy(update={"choices": tuple(shown)[:MOST_CHOICES]})


def _words(listed: str) -> list[str]:
    return re.findall(r"\b(?!or\b)[\w-]+", _NO_VALUE.sub("", listed))


def _under_heading(word: str, text: str) -> list[str]:
    """Return the names that begin the rows under headings such as `Safe transforms:`, of an option `--transform`."""
    rows = re.findall(rf"(?im)^\s*(?:[\w-]+ )*{re.escape(word)}s:[ ]*\n((?:\s*(?:[+*-] )?[a-z][\w-]* .*\n)+)", text)
    return [name for row in rows for name in re.findall(r"(?m)^\s*(?:[+*-] )?([a-z][\w-]*) ", row)]


def _named_values(text: str) -> list[str]:
    """Return the words in quotes, or those that a text gives a meaning; none if there is only one."""
    words = re.findall(r"(?<!\w)['\"`]([a-z][\w-]*)['\"`](?!\w)", text)
    found = next((one for one in (_KEYED.findall(text), words) if len({*one}) > 1), [])
    return [*dict.fromkeys(found)]


def followed(root: Path, where: str, binary: str, files: Mapping[str, str]) -> Iterator[Candidate]:
    """Yield a candidate for each document with examples, the first MOST_FOLLOWED: an agent follows it, as each side has
    it. It gets those of the files that it names.
    """
    documents = (path for path in _documents(root, where, binary) if path.suffix in SUFFIXES)
    found = [path for path in documents if any(map(list, _examples_of(path, binary)))]
    for number, path in enumerate(sorted(found, key=_is_readme)[:MOST_FOLLOWED]):
        name, words = path.relative_to(root).as_posix(), {*re.split(r"[^\w.-]+", _text(path))}
        own = {file: text for file, text in files.items() if file.partition("/")[0] in words}
        scenario = f"docs_examples_{slug(path.stem)}" if number else "docs_examples"
        yield Candidate(scenario, f"{name} can be followed.", (), files=own, guidance=(name,))


def _examples_of(path: Path, binary: str) -> Iterator[Iterator[str]]:
    return (_runnable(block, binary) for block in blocks(_text(path), binary, indented=True))


def _is_readme(path: Path) -> bool:
    """Return False for README, so that it comes first."""
    return path.stem.lower() != "readme"


def named_once(plans: Iterable[Plan]) -> tuple[Plan, ...]:
    """Return the plans with names that differ."""
    found: dict[str, Plan] = {}
    for plan in plans:
        base = plan.candidate.name
        names = (base + (f"_{number}" if number > 1 else "") for number in range(1, 99))
        name = next(name for name in names if name not in found and name != HELP)
        found[name] = plan._replace(candidate=plan.candidate._replace(name=name))
    return tuple(islice(found.values(), MOST_SCENARIOS))


def called_by_name(text: str, binary: str) -> str:
    """Return the text with the plain name of the program where a line calls it by a path or through a launcher."""
    launcher = r"(?:run|npx|pipx run|uv run|uvx|python3? -m|(?:python3?|node|ruby|bash|sh)(?= ))"
    sets = r"""(?:[A-Za-z_]\w*=(?:"[^"]*"|'[^']*'|\S*)\s+)*"""
    path = rf"(?:{launcher}\s+)?(?:[\w.~$-]*/)*"
    stem = re.escape(binary)
    if binary.startswith("git-"):
        text = re.sub(rf"\bgit {re.escape(binary.removeprefix('git-'))}(?![\w-])", binary, text)
    text = re.sub(rf"\$\{{\w+:?-(?:[\w./-]*/)?{stem}\}}", binary, text)
    suffix = "" if "." in binary else r"(?:\.(?:py|js|mjs|rb|sh|pl))?"
    named = re.compile(
        rf"(?m)^\s*(?:export |local )?(\w+)=[\"']?(?:{launcher}\s+)?(?:[\w.~${{}}()-]*/)*{stem}{suffix}[\"']?\n"
    )
    names = named.findall(text)
    text = named.sub("", text)
    for name in names:
        text = re.sub(rf"\"?\$(?:{name}\b|\{{{name}\}})\"?", binary, text)
    return re.sub(rf"(?m)^(\s*(?:[$%>] )?|.*\|\s*)({sets}){path}{stem}{suffix}(?=\s|$)", rf"\g<1>\g<2>{binary}", text)


def _text(path: Path) -> str:
    """Return the start of a document, as Markdown; blocks of commands have no other language than that."""
    text = path.read_text(encoding="utf-8", errors="replace")[:MOST_CHARACTERS]
    if path.suffix in _ASCIIDOC:
        text = _LISTING.sub(r"```\1\n\2\n```", text)
    return _OF_COMMANDS.sub("```", markdown_of(path.name, text))


def texts_of(root: Path, where: str, binary: str) -> list[str]:
    """Return the texts of the documents."""
    return [_text(path) for path in _documents(root, where, binary)]


def _documents(root: Path, where: str, binary: str) -> list[Path]:
    folder = root / where
    own = (f"{folder}{escape(binary)}.*" for folder in ("", "docs/**/", "doc/**/"))  # its manual
    found = (path for glob in (*own, *_DOCUMENTS, *GUIDES) for path in sorted(folder.glob(glob)))
    fit = (
        path
        for path in found
        if (path.suffix in (*SUFFIXES, *_ASCIIDOC) or path.name in _PLAIN)
        and path.is_file()
        and not _TRANSLATED.match(path.stem)
    )
    return list(dict.fromkeys(fit))


def _runnable(block: Block, binary: str) -> Iterator[str]:
    """Yield the calls that can be tried, each after what earlier lines change in the shell."""
    before: list[str] = []
    for line in block:
        if line.unfit or synopsis(line, block):
            continue
        if foreign(line, binary):
            for other in blocks(_on_sample(line, binary), binary):
                yield from _runnable(other, binary)
        elif (line.state and not line.calls) or line.variable:
            of_checkout = rf"(?:\.|source) \S*/{re.escape(binary)}|cd .*\$\{{?0.*"
            before += [one for one in line.state or (line.text,) if not re.fullmatch(of_checkout, one)]
        elif line.calls and not _ABOUT_ITSELF.search(line.text):
            yield _with(before, line)


def _on_sample(line: ShellLine, binary: str) -> str:
    """Return the line as a document, with a sample for what another program pipes into the tool; '' without that."""
    given, pipe, call = line.text.partition(" | ")
    if not pipe or not f"{call} ".startswith(f"{binary} ") or "|" in call or given.split()[0] in PLAIN_PROGRAMS:
        return ""
    kinds = (kind_of(word.strip("\"'")) for word in given.split())
    kind = next(filter(None, kinds), ".json" if "json" in given else ".html" if "://" in given else ".txt")
    return f"~~~~sh\n{call} < sample{kind}\n~~~~"


def _with(before: Sequence[str], line: ShellLine) -> str:
    """Return the line after these; one that only Bash understands is given to it."""
    text = " && ".join([*before, line.text])
    return f"bash -c {shlex.quote(text)}" if _BASH.search(text) else text


def slug(text: str) -> str:
    """Return the text as a name: of lower-case letters, digits and `_`."""
    return re.sub(r"\W+", "_", text.lower(), flags=re.ASCII).strip("_")[:40].strip("_")
