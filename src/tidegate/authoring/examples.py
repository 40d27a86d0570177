"""Collects what a first suite can try: the examples of the docs and of the tool's help, and what the help lists."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from glob import escape
from itertools import groupby, islice
from pathlib import Path, PurePosixPath
from typing import NamedTuple

from tidegate.agents.doc_follower import READMES
from tidegate.agents.instructions import Block, Example, blocks, foreign, missing_file, synopsis
from tidegate.agents.restructured_text import SUFFIXES, markdown_of
from tidegate.decide.surface.help_text import subcommands
from tidegate.model.suite import GUIDANCE

_PEOPLE = (("id", "name", "city"), ("1", "Ada", "London"), ("2", "Grace", "New York"), ("3", "Alan", "Wilmslow"))
SAMPLES = {
    ".html": "<!doctype html>\n<html><head><title>Sample</title></head><body>\n"
    "<header class='header'><nav class='nav'><a href='/'>Home</a></nav></header>\n"
    "<main class='main' id='main'>\n<h1 class='title'>A heading</h1>\n"
    "<div class='content' id='content'><p>The first paragraph.</p></div>\n"
    "<article class='entry post'><h2>An entry</h2><p>The text of an entry.</p></article>\n"
    "<ul class='list'><li class='item'>One</li><li class='item'>Two</li></ul>\n</main>\n"
    "<aside class='sidebar' id='sidebar'><p>The side column.</p></aside>\n"
    "<footer class='footer' id='footer'>The end</footer>\n</body></html>\n",
    ".json": '{"name": "Ada", "city": "London", "tags": ["first", "second"], "items": [{"id": 1}, {"id": 2}]}\n',
    ".jsonl": '{"id": 1, "name": "Ada"}\n{"id": 2, "name": "Grace"}\n',
    ".csv": "".join(",".join(row) + "\n" for row in _PEOPLE),
    ".tsv": "".join("\t".join(row) + "\n" for row in _PEOPLE),
    ".txt": "The first line of a text.\nThe second line.\nA third one, with the number 42.\n",
    ".md": "# A heading\n\nSome *text* with a [link](https://example.com).\n\n- one\n- two\n",
    ".xml": "<?xml version='1.0'?>\n<people><person id='1'>Ada</person><person id='2'>Grace</person></people>\n",
    ".yaml": "name: Ada\ncity: London\ntags: [first, second]\n",
    ".toml": 'name = "Ada"\ncity = "London"\n',
    ".log": "10:00:01 INFO started\n10:00:02 WARN slow answer\n10:00:03 ERROR no answer\n",
}

MOST_SCENARIOS = 6
MOST_COMMANDS = 8
MOST_SUBCOMMANDS = 12
MOST_CHARACTERS = 200_000
LARGEST_FILE = 200_000
_DOCUMENTS = (
    *("README*", "readme*", "USAGE*", "docs/[uU]sage*", "docs/*[qQ]uick*", "docs/index.*"),
    *("docs/**/*[tT]utorial*", "docs/**/*[gG]etting*tarted*"),
)
_EXAMPLES = re.compile(r"^\W*examples?\b.*$", re.IGNORECASE | re.MULTILINE)


class Candidate(NamedTuple):
    """Commands that may become a scenario, and the files of the repository that they name."""

    name: str
    description: str
    commands: tuple[str, ...]
    files: tuple[str, ...] = ()
    asks_help: bool = False
    guidance: tuple[str, ...] = ()  # documents to follow instead of commands
    shown: frozenset[str] = frozenset()  # lines of the document, which may show what the commands print


_NO_FILES = Path("/nonexistent")  # examples of a help text get an empty workspace


def help_candidate(binary: str, asking: Iterable[str]) -> Candidate:
    """Return the candidate that asks the tool for its help."""
    return Candidate("help", f"`{binary}` explains itself.", tuple(asking), asks_help=True)


def subcommands_candidate(command: str, text: str) -> Candidate | None:
    """Return the candidate that asks for the help of each subcommand; None if the help lists none."""
    names = list(islice(subcommands(text), MOST_SUBCOMMANDS))
    program, _, asking = command.rpartition(" ")
    commands = tuple(f"{program} {name} {asking}" for name in names if asking.startswith("-"))
    described = f"`{program}` explains its subcommands."
    return Candidate("subcommands", described, commands, asks_help=True) if len(commands) > 1 else None


def documented(root: Path, where: str, binary: str) -> Iterator[Candidate]:
    """Yield a candidate for each section of the docs with examples, and for the examples of README's kind of files."""
    taken: set[str] = set()
    for path in _documents(root, where, binary):
        text = _text(path)
        document = path.relative_to(root).as_posix()
        for heading, group in groupby(blocks(text, binary), key=lambda block: block.heading):
            lines = [line for block in group for line in _runnable(block, binary) if _can_fail(line, path.parent)]
            fresh = [line for line in lines if line.text not in taken or not line.calls][:MOST_COMMANDS]
            if any(line.calls for line in fresh):
                taken |= {line.text for line in fresh}
                title = f"{document} shows it" + (f" under “{heading}”." if heading else ".")
                name = _slug(heading) or _slug(path.stem)
                commands, files = tuple(line.text for line in fresh), _files(root, path.parent, fresh)
                yield Candidate(name, title, commands, files, shown=frozenset(map(str.strip, text.splitlines())))


def in_help(binary: str, text: str) -> Candidate | None:
    """Return the candidate with the examples of a help text; None if it has none."""
    start = _EXAMPLES.search(text)
    typed = [row.strip().removeprefix("$ ") for row in text.splitlines() if row.strip().startswith("$ ")]
    if start:
        rows = (row.strip().removeprefix("$ ") for row in text[start.end() :].splitlines())
        typed += [row for row in rows if row.startswith(f"{binary} ") or f"| {binary} " in f"{row} "]
    found = blocks("\n".join(["```sh", *dict.fromkeys(typed), "```"]), binary)
    lines = [line.text for block in found for line in _runnable(block, binary) if _can_fail(line, _NO_FILES)][
        :MOST_COMMANDS
    ]
    files = dict.fromkeys(name for line in lines for name in samples(line))
    return Candidate("help_examples", f"`{binary} --help` shows it.", tuple(lines), tuple(files)) if lines else None


def followed(root: Path, where: str, binary: str) -> Candidate | None:
    """Return the candidate that follows the README, as each side has it; None if it has no example."""
    for readme in filter(Path.is_file, (root / where / name for name in READMES)):
        found = blocks(_text(readme), binary)
        if any(line.calls for block in found for line in _runnable(block, binary)):
            path = readme.relative_to(root).as_posix()
            return Candidate(
                f"{_slug(readme.stem) or 'docs'}_examples", f"What {path} shows works.", (), guidance=(path,)
            )
    return None


def named_once(candidates: Iterable[Candidate]) -> tuple[Candidate, ...]:
    """Return the first candidates, with names that differ."""
    found: dict[str, Candidate] = {}
    for candidate in islice(candidates, MOST_SCENARIOS):
        name = next(
            name
            for number in range(1, 99)
            if (name := candidate.name + (f"_{number}" if number > 1 else "")) not in found
        )
        found[name] = candidate._replace(name=name)
    return tuple(found.values())


def _text(path: Path) -> str:
    """Return the start of a document, as Markdown."""
    return markdown_of(path.name, path.read_text(encoding="utf-8", errors="replace")[:MOST_CHARACTERS])


def _documents(root: Path, where: str, binary: str) -> list[Path]:
    folder = root / where
    own = (f"docs/**/{escape(binary)}.*", f"doc/**/{escape(binary)}.*")
    globs = (*own, *_DOCUMENTS, *(glob + "/*.md" if glob.endswith("**") else glob for glob in GUIDANCE))
    found = (path for glob in globs for path in sorted(folder.glob(glob)))
    return list(dict.fromkeys(path for path in found if path.suffix in SUFFIXES and path.is_file()))


def _runnable(block: Block, binary: str) -> Iterator[Example]:
    for line in block.lines:
        if not (line.unfit or synopsis(line, block) or foreign(line, binary)):
            yield line
        elif not line.calls:
            return  # later lines of the block may need this one


def _can_fail(line: Example, folder: Path) -> bool:
    """Return False for a pipeline that reads a missing file, and no sample: it may succeed nevertheless."""
    return "|" not in line.text or missing_file(line, folder, ()) is None or bool(samples(line.text))


def _files(root: Path, beside: Path, lines: Iterable[Example]) -> tuple[str, ...]:
    """Return the small files of the repository that the lines name, relative to the root, and samples of others."""
    words = dict.fromkeys(word.strip("\"'") for line in lines for word in line.words)
    found = []
    for word in words:
        name = PurePosixPath(word)
        inside = word and not name.is_absolute() and ".." not in name.parts
        path = next((one for one in (root / word, beside / word) if inside and one.is_file()), None)
        if path is not None and path == root / word and path.stat().st_size <= LARGEST_FILE:
            found.append(word)
    return tuple(dict.fromkeys([*found, *(name for line in lines for name in samples(line.text))]))


def _slug(text: str) -> str:
    return re.sub(r"\W+", "_", text.lower(), flags=re.ASCII).strip("_")[:40].strip("_")


SAMPLES |= {".htm": SAMPLES[".html"], ".ndjson": SAMPLES[".jsonl"], ".yml": SAMPLES[".yaml"]}
_READ = re.compile(r"(?:\bcat\s+|<\s*|\s(?:-i|--input|-f|--file)[\s=])[\"']?([\w.-]+)[\"']?(?=\s|$)")


def samples(line: str) -> tuple[str, ...]:
    """Return the names of the files that a command line surely reads, and for which there is a sample."""
    return tuple(name for name in _READ.findall(line) if PurePosixPath(name).suffix.lower() in SAMPLES)


def sample(name: str) -> bytes:
    """Return the sample for a file of this name."""
    return SAMPLES[PurePosixPath(name).suffix.lower()].encode()
