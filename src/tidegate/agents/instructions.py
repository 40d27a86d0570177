"""Find the command lines that a Markdown document tells its reader to run, and those that run as they are shown."""

from __future__ import annotations

import itertools
import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from pathlib import Path, PurePosixPath
from typing import NamedTuple

from markdown_it import MarkdownIt
from markdown_it.token import Token

from tidegate.agents.invocations.shell_grammar import ShellCall, ShellLine, shell_lines
from tidegate.model.value import Value

_MARKDOWN = MarkdownIt("commonmark")  # it takes longer to make than a short document to read
_SESSIONS = frozenset({"console", "shell-session", "shellsession", "sh-session", "terminal"})
_LANGUAGES = frozenset({"", "sh", "bash", "shell", "zsh", *_SESSIONS})
_PROMPT = re.compile(r"\s*(?:[\w.-]+@[\w.-]+[: ][^\s$%#]*)?[$%❯▶➜»] +")  # noqa: RUF001
_HELP_TEXT = re.compile(r"^\s*(usage|synopsis|(?:\w+ )?(?:options|commands|arguments|flags))\s*:", re.I | re.M)
# Programs whose rows in a fence without a language are surely commands. They only read and write the given files.
_PLAIN = (
    "[ awk basename cat cd chmod cmp cp cut date diff dirname echo env export expr false find for git grep gunzip gzip "
    "head id jq ls mkdir mktemp mv printf pwd rm rmdir sed seq set sh bash sleep sort tail tar tee test touch tr true "
    "uniq unset wc which xargs yes zcat sudo time timeout command exec nice nohup read source . :"
)
PLAIN_PROGRAMS = frozenset(_PLAIN.split())
MAX_BLOCK_CHARACTERS = 20_000


class Example(ShellLine):
    """A command line of a document, and the output that the document shows for it."""

    shown: str = ""


class Block(Value):
    """One block of commands that calls the tool under test. Rows count from 1, as in the document."""

    lines: tuple[Example, ...]
    heading: str = ""  # the nearest heading above it
    sections: tuple[str, ...] = ()  # anchors of all headings that it is below


class Section(NamedTuple):
    """A heading: its text, its level, and its anchor, as GitHub makes it."""

    title: str
    level: int
    anchor: str


def blocks(markdown: str, target: str, *, indented: bool = False, sections: Sequence[str] = ()) -> tuple[Block, ...]:
    """Return the document's blocks that call the tool under test, in order.

    Fenced blocks of a shell language are read, fences without a language if every row is a command, and CommonMark's
    indented blocks if they have prompts. `indented` adds those without prompts. `sections` are anchors of headings:
    if given, only blocks below one of them are returned.
    """
    found = (_block(token, above, target) for token, above in _code(markdown, indented))
    calling = (block for block in found if any(line.calls for line in block.lines))
    return tuple(block for block in calling if not sections or not {*sections}.isdisjoint(block.sections))


def anchors(markdown: str) -> tuple[str, ...]:
    """Return the anchors of the document's headings, in order."""
    return tuple(section.anchor for section in _headings(_MARKDOWN.parse(markdown)).values())


def _code(markdown: str, indented: bool) -> Iterator[tuple[Token, tuple[Section, ...]]]:
    tokens = _MARKDOWN.parse(markdown)
    headings, above = _headings(tokens), tuple[Section, ...]()
    for place, token in enumerate(tokens):
        if section := headings.get(place):
            above = (*(other for other in above if other.level < section.level), section)
        elif _is_read(token, indented):
            yield token, above


def _headings(tokens: Sequence[Token]) -> dict[int, Section]:
    """Return the headings by the place of their token. Equal anchors are numbered."""
    found: dict[int, Section] = {}
    used: dict[str, int] = {}
    for place, token in enumerate(tokens):
        if token.type == "heading_open":
            title = re.sub(r"[`*]|!?\[([^\]]*)\]\([^)]*\)", r"\1", tokens[place + 1].content).strip()
            anchor = re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-")
            number = used[anchor] = used.get(anchor, -1) + 1
            found[place] = Section(title, int(token.tag[1:]), f"{anchor}-{number}" if number else anchor)
    return found


def _is_read(token: Token, indented: bool) -> bool:
    if token.type == "code_block":
        return indented or _has_prompts(token.content.split("\n"))
    return token.type == "fence" and _language(token) in _LANGUAGES


def _has_prompts(rows: Iterable[str]) -> bool:
    return any(_PROMPT.match(row) for row in rows)


def _language(token: Token) -> str:
    return token.info.strip().partition(" ")[0].lower()


def _block(token: Token, above: Sequence[Section], target: str) -> Block:
    heading, sections = above[-1].title if above else "", tuple(section.anchor for section in above)
    return Block(lines=_lines(token, target), heading=heading, sections=sections)


def _lines(token: Token, target: str) -> tuple[Example, ...]:
    start = (token.map or [0])[0] + (2 if token.type == "fence" else 1)
    rows = token.content.split("\n")
    if len(token.content) > MAX_BLOCK_CHARACTERS:
        return (_too_long(start, rows[0], target),) if target in token.content else ()
    # A block with prompts is a session: lines without a prompt are output, regardless of the block's language.
    session = _language(token) in _SESSIONS or _has_prompts(rows)
    lines = tuple(
        Example(**dict(line) | {"row": start + row + line.row, "shown": shown})
        for row, text, shown in (_typed(rows) if session else [(0, token.content, "")])
        for line in shell_lines(text, target)
    )
    if not session and _HELP_TEXT.search(token.content):
        return _refused(lines, "its block is help text, not an example")
    if not session and token.type == "fence" and not _language(token) and not all(_is_command(line) for line in lines):
        return _refused(lines, "its block has no language, and not all of its lines are commands")
    return lines


def _is_command(line: Example) -> bool:
    """Return True if the line starts the tool or a program that is well known."""
    programs = {program.rpartition("/")[2] for program in line.programs[:1]}
    return bool(line.state) or bool(line.calls) or programs <= PLAIN_PROGRAMS


def _refused(lines: Iterable[Example], reason: str) -> tuple[Example, ...]:
    return tuple(line.model_copy(update={"unfit": line.unfit or reason}) for line in lines if line.calls)


def _too_long(row: int, text: str, target: str) -> Example:
    reason = f"its block is longer than {MAX_BLOCK_CHARACTERS} characters"
    return Example(row=row, text=text[:200], calls=(ShellCall(program=target, argv=()),), unfit=reason)


def _typed(rows: list[str]) -> Iterator[tuple[int, str, str]]:
    """Yield what was typed in a session, with its row and the output shown below it.

    The typed text is that after the prompt and the rows that continue it.
    """
    starts = [place for place, row in enumerate(rows) if _PROMPT.match(row)]
    for start, end in itertools.pairwise([*starts, len(rows)]):
        typed, place = [_PROMPT.sub("", rows[start], count=1)], start + 1
        while typed[-1].endswith("\\") and place < end:
            typed.append(rows[place].removeprefix("> "))
            place += 1
        while place < end and rows[place].startswith("> "):
            typed.append(rows[place].removeprefix("> "))
            place += 1
        yield start, "\n".join(typed), "\n".join(rows[place:end]).strip("\n")


# Words in capitals that are real values.
_IN_CAPITALS = "GET POST PUT PATCH DELETE HEAD DEBUG INFO WARN WARNING ERROR ASCII JSON CSV TSV XML YAML UTC"
_VALUES = frozenset(_IN_CAPITALS.split())
_CAPITALS = re.compile(r"""(?:--?[\w-]+=)?([A-Z][A-Z_-]+)(?:["'].*|=[A-Z_]+)?""", re.DOTALL)
_OPTIONAL = re.compile(r"\[[-\w<][^\]]*(\]+(\.\.\.)?\]*)?$|.*\w\.\.\.\]*$")
_ALTERNATIVES = re.compile(r"[\w\])]\|[\w\[(<-]")
_SAMPLE = re.compile(r"/?path/to/|\byour[-_]|\{[A-Za-z_ -]+\}$", re.IGNORECASE)
_VARIABLE = re.compile(r"\$\{?([A-Za-z_]\w*|[@*1-9])")
_OF_ENVIRONMENT = frozenset({"HOME", "PWD", "USER", "PATH", "TMPDIR", "SHELL", "LANG", "TERM"})
_OUTSIDE = re.compile(r"/(bin|boot|dev|etc|home|lib|media|mnt|opt|proc|root|run|sbin|srv|sys|usr|var|Users)(/|$)")
_HOME_BIN = re.compile(r"(?:~|\$HOME|\$\{HOME\})/(?:\.local/)?bin\b")
_NULL = ("/dev/null", "/dev/stdin", "/dev/stdout", "/dev/stderr", "/dev/fd/")
_ADDRESS = re.compile(r"(https?|ftp|ssh|git|wss?)://|[\w.-]+\.(com|org|net)$|\d+\.\d+\.\d+\.\d+$")
_OUTPUT_OPTION = re.compile(r"-o|--?out(put)?([-_]\w+)?")
_FILE = re.compile(
    r"[\w./~+-]*\w\.(txt|md|csv|tsv|json|jsonl|ya?ml|toml|ini|cfg|conf|xml|html?|js|ts|py|rb|go|rs|c|h|cc|cpp|java|kt|sh|sql"
    r"|db|sqlite3?|log|pdf|png|jpe?g|gif|svg|zip|tar|gz|tgz|bz2|xz|bin|dat|out|pem|key|crt|diff|patch|tex|css|bib)"
)


def synopsis(line: Example, block: Block) -> str | None:
    """Return why the line describes calls instead of being one; None if it is one."""
    unquoted = [word for word in line.words if word[:1] not in "\"'"]
    if any(_OPTIONAL.match(word) for word in unquoted):
        return "it has optional arguments in brackets"
    if _ALTERNATIVES.search(re.sub(r"""(["']).*?\1""", "", line.text, flags=re.DOTALL)):
        return "it has alternatives (`a|b`)"
    if capitals := [word for word in (*line.programs[:1], *unquoted) if _stands_for_value(word)]:
        return f"`{capitals[0]}` stands for a value"
    if any(_SAMPLE.search(word) for word in line.words):
        return "it holds a placeholder"
    text = "\n".join(other.text for other in block.lines)
    used = {name for word in line.words if word[:1] != "'" for name in _VARIABLE.findall(word)}
    unset = sorted(
        name for name in used - _OF_ENVIRONMENT if not re.search(rf"\b{re.escape(name)}\b(?=\+?=| in\b)", text)
    )
    return f"no line sets `${unset[0]}`" if unset and "read " not in text else None


def foreign(line: Example, target: str) -> str | None:
    """Return why the line is not about the tool alone; None if it is, or if it only prepares files for it."""
    own = PurePosixPath(target).name
    programs = [PurePosixPath(program).name for program in line.programs]
    if others := [name for name in programs if name != own and name not in PLAIN_PROGRAMS]:
        return f"it also needs `{others[0]}`" if line.calls else f"it does not call {own}"
    if not line.calls and (folder := _HOME_BIN.search(line.text)):
        return f"it installs into {folder[0]}, which is not on PATH here"
    if "git" in programs and not {"clone", "fetch", "pull", "push", "rm", "status"}.isdisjoint(line.words):
        return f"it does not call {own}"
    if "sudo" in programs:
        return "it needs `sudo`"
    bare = [word.strip("\"'") for word in line.words]
    if outside := [word for word in bare if _OUTSIDE.match(word) and not word.startswith(_NULL)]:
        return f"it reads {outside[0]}, outside of the workspace"
    if addresses := [word for word in bare if _ADDRESS.match(word)]:
        return f"it needs {addresses[0]}"
    return None


def unfinished(block: Block, target: str) -> str | None:
    """Return why the block's calls belong to a longer procedure: a line of it runs other programs."""
    own = PurePosixPath(target).name
    programs = (PurePosixPath(name).name for line in block.lines if not line.calls for name in line.programs)
    other = next((name for name in programs if name != own and name not in PLAIN_PROGRAMS), None)
    return f"its block also needs `{other}`" if other else None


def missing_file(line: Example, workspace: Path, made: Collection[str]) -> str | None:
    """Return why the line cannot work: a file that it names is neither in the workspace nor written by the line.

    `made`: texts of the earlier lines, which may have changed to another folder or write the file.
    """
    for before, word in zip(("", *line.words), line.words, strict=False):
        name = word.strip("\"'")
        if not _FILE.fullmatch(name) or _OUTPUT_OPTION.fullmatch(before):
            continue
        if not (workspace / name).exists() and not any("cd " in text or name in text for text in made):
            return f"{name} is not in the workspace"
    return None


def _stands_for_value(word: str) -> bool:
    found = _CAPITALS.fullmatch(word)
    return found is not None and found[1] not in _VALUES
