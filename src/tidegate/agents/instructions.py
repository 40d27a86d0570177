"""Find the command lines that a Markdown document tells its reader to run, and those that run as they are shown."""

from __future__ import annotations

import itertools
import re
import textwrap
from collections.abc import Collection, Iterable, Iterator, Sequence
from pathlib import Path, PurePosixPath

from markdown_it import MarkdownIt
from markdown_it.token import Token

from tidegate.agents.invocations.shell_grammar import ShellCall, ShellLine, shell_lines

_MARKDOWN = MarkdownIt("commonmark")  # it takes longer to make than a short document to read
_SESSIONS = frozenset({"console", "shell-session", "shellsession", "sh-session", "terminal"})
_TEXTS = frozenset({"text", "txt", "plain", "plaintext"})
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


Block = tuple[ShellLine, ...]
"""The command lines of one block that calls the tool under test. Rows count from 1, as in the document."""


def blocks(markdown: str, target: str, *, indented: bool = False) -> tuple[Block, ...]:
    """Return the document's blocks that call the tool under test, in order.

    Fenced blocks of a shell language are read, fences without a language if every row is a command, and plain text and
    CommonMark's indented blocks if they have prompts. `indented` adds those without prompts.
    """
    found = (_lines(token, target) for token in _MARKDOWN.parse(markdown) if _is_read(token, indented))
    return tuple(block for block in found if any(line.calls for line in block))


def _is_read(token: Token, indented: bool) -> bool:
    if token.type == "code_block":
        return indented or _has_prompts(token.content.split("\n"))
    is_session = _language(token) in _TEXTS and _has_prompts(token.content.split("\n"))
    return token.type == "fence" and (is_session or _language(token) in _LANGUAGES)


def _has_prompts(rows: Iterable[str]) -> bool:
    return any(_PROMPT.match(row) for row in rows)


def _language(token: Token) -> str:
    return token.info.strip().partition(" ")[0].lower()


def _lines(token: Token, target: str) -> Block:
    start = (token.map or [0])[0] + (2 if token.type == "fence" else 1)
    rows = token.content.split("\n")
    if len(token.content) > MAX_BLOCK_CHARACTERS:
        return (_too_long(start, rows[0], target),) if target in token.content else ()
    # A block with prompts is a session: lines without a prompt are output, regardless of the block's language.
    session = _language(token) in _SESSIONS or _has_prompts(rows)
    lines = tuple(
        line.model_copy(update={"row": start + row + line.row})
        for row, text in (_typed(rows) if session else [(0, token.content)])
        for line in shell_lines(text, target)
    )
    if not session and _HELP_TEXT.search(token.content):
        return _refused(lines, "its block is help text, not an example")
    if not session and token.type == "fence" and not _language(token) and not all(_is_command(line) for line in lines):
        return _refused(lines, "its block has no language, and not all of its lines are commands")
    return lines


def _is_command(line: ShellLine) -> bool:
    """Return True if the line starts the tool or a program that is well known."""
    programs = {program.rpartition("/")[2] for program in line.programs[:1]}
    return bool(line.state) or bool(line.calls) or programs <= PLAIN_PROGRAMS


def _refused(lines: Iterable[ShellLine], reason: str) -> tuple[ShellLine, ...]:
    return tuple(line.model_copy(update={"unfit": line.unfit or reason}) for line in lines if line.calls)


def _too_long(row: int, text: str, target: str) -> ShellLine:
    reason = f"its block is longer than {MAX_BLOCK_CHARACTERS} characters"
    return ShellLine(row=row, text=text[:200], calls=(ShellCall(program=target, argv=()),), unfit=reason)


def _typed(rows: list[str]) -> Iterator[tuple[int, str]]:
    """Yield what was typed in a session, with its row: the text after the prompt and the rows that continue it."""
    starts = [place for place, row in enumerate(rows) if _PROMPT.match(row)]
    for start, end in itertools.pairwise([*starts, len(rows)]):
        typed, place = [_PROMPT.sub("", rows[start], count=1)], start + 1
        while typed[-1].endswith("\\") and place < end:
            typed.append(rows[place].removeprefix("> "))
            place += 1
        while place < end and rows[place].startswith("> "):
            typed.append(rows[place].removeprefix("> "))
            place += 1
        yield start, "\n".join(typed)


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


def synopsis(line: ShellLine, block: Block) -> str | None:
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
    text = "\n".join(other.text for other in block)
    used = {name for word in line.words if word[:1] != "'" for name in _VARIABLE.findall(word)}
    unset = sorted(
        name for name in used - _OF_ENVIRONMENT if not re.search(rf"\b{re.escape(name)}\b(?=\+?=| in\b)", text)
    )
    return f"no line sets `${unset[0]}`" if unset and "read " not in text else None


def foreign(line: ShellLine, target: str) -> str | None:
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
    return None


def address(text: str) -> str | None:
    """Return why the line may need the network: the first address in it; None if it has none."""
    words = (word.strip("\"'") for word in text.split())
    return next((f"it needs {word}" for word in words if _ADDRESS.match(word)), None)


def unfinished(block: Block, target: str) -> str | None:
    """Return why the block's calls belong to a longer procedure: a line of it runs other programs."""
    own = PurePosixPath(target).name
    programs = (PurePosixPath(name).name for line in block if not line.calls for name in line.programs)
    other = next((name for name in programs if name != own and name not in PLAIN_PROGRAMS), None)
    return f"its block also needs `{other}`" if other else None


def missing_file(line: ShellLine, workspace: Path, made: Collection[str]) -> str | None:
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


_DIRECTIVE = re.compile(r"^(?P<indent>\s*)\.\. +(?:code-block|code|sourcecode|prompt)::\s*(?P<language>[\w-]*)")
_LITERAL = re.compile(r"^(?P<indent>\s*)(?!\.\. |\s).*::\s*$")
_OPTION = re.compile(r"^\s*:[\w-]+:")


def markdown_of(path: str, text: str) -> str:
    """Return a document's text as Markdown.

    Of reStructuredText, fences are put around indented blocks that follow a directive for code or a paragraph that ends
    with `::`. All other markup is unchanged, and each line stays on its row.
    """
    if not path.lower().endswith(".rst"):
        return text
    return "\n".join(_fenced([row.expandtabs(8) for row in text.splitlines()]))


def _fenced(rows: Sequence[str]) -> Iterator[str]:
    place = 0
    while place < len(rows):
        opened = _DIRECTIVE.match(rows[place]) or _LITERAL.match(rows[place])
        body = _body(rows, place + 1, len(opened["indent"])) if opened else range(0)
        if opened is None or not body or (opened.re is _LITERAL and rows[place + 1].strip()):
            yield rows[place]
            place += 1
            continue
        above = [] if opened.re is _DIRECTIVE else [rows[place]]
        language = opened["language"] if opened.re is _DIRECTIVE else ""
        blank = body.start - place - 1 - len(above)
        yield from (*above, *[""] * blank, f"```{language}")
        yield from textwrap.dedent("\n".join(rows[body.start : body.stop])).split("\n")
        yield "```"
        place = body.stop + 1  # of the blank rows after the block, the fence takes the first


def _body(rows: Sequence[str], start: int, indent: int) -> range:
    """Return the rows of the block that is indented by more than `indent`, without blank rows and options around it."""
    while start < len(rows) and (not rows[start].strip() or _OPTION.match(rows[start])):
        start += 1
    stop = start
    while stop < len(rows) and (not rows[stop].strip() or len(rows[stop]) - len(rows[stop].lstrip()) > indent):
        stop += 1
    while stop > start and not rows[stop - 1].strip():
        stop -= 1
    return range(start, stop)
