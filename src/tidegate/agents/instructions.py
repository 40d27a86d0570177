"""Find the command lines that a Markdown document tells its reader to run."""

from __future__ import annotations

from collections.abc import Iterator

from markdown_it import MarkdownIt
from markdown_it.token import Token

from tidegate.invocations.shell_grammar import Call, ShellLine, shell_lines
from tidegate.model.value import Value

_LANGUAGES = frozenset({"", "sh", "bash", "shell", "console"})
_PROMPT = "$ "
MAX_BLOCK_CHARACTERS = 20_000


class Block(Value):
    """One block of commands that calls the tool under test. Rows count from 1, as in the document."""

    lines: tuple[ShellLine, ...]


def blocks(markdown: str, target: str, *, indented: bool = False) -> tuple[Block, ...]:
    """Return the document's blocks that call the tool under test, in order.

    Fenced blocks marked sh, bash, shell, console or not at all are read, and CommonMark's indented blocks if they have
    `$ ` prompts. `indented` adds those without prompts.
    """
    tokens = MarkdownIt("commonmark").parse(markdown)
    read = (_lines(token, target) for token in tokens if _is_read(token, indented))
    return tuple(Block(lines=lines) for lines in read if any(line.calls for line in lines))


def _is_read(token: Token, indented: bool) -> bool:
    if token.type == "code_block":
        return indented or _has_prompts(token.content.split("\n"))
    return token.type == "fence" and _language(token) in _LANGUAGES


def _has_prompts(rows: list[str]) -> bool:
    return any(row.startswith(_PROMPT) for row in rows)


def _language(token: Token) -> str:
    return token.info.strip().partition(" ")[0].lower()


def _lines(token: Token, target: str) -> tuple[ShellLine, ...]:
    start = (token.map or [0])[0] + (2 if token.type == "fence" else 1)
    rows = token.content.split("\n")
    if len(token.content) > MAX_BLOCK_CHARACTERS:
        return (_too_long(start, rows[0], target),) if target in token.content else ()
    # A block with prompts is a session: lines without a prompt are output, regardless of the block's language.
    session = _language(token) == "console" or _has_prompts(rows)
    parts = _typed(rows) if session else [(0, token.content)]
    return tuple(
        line.model_copy(update={"row": start + row + line.row})
        for row, text in parts
        for line in shell_lines(text, target)
    )


def _too_long(row: int, text: str, target: str) -> ShellLine:
    reason = f"its block is longer than {MAX_BLOCK_CHARACTERS} characters"
    return ShellLine(row=row, text=text[:200], calls=(Call(program=target, argv=()),), unfit=reason)


def _typed(rows: list[str]) -> Iterator[tuple[int, str]]:
    """Yield what was typed in a session, with its row: the text after `$ ` and the rows that continue it."""
    position = 0
    while position < len(rows):
        start, position = position, position + 1
        if not rows[start].startswith(_PROMPT):
            continue
        typed = [rows[start].removeprefix(_PROMPT)]
        while typed[-1].endswith("\\") and position < len(rows):
            typed.append(rows[position].removeprefix("> "))
            position += 1
        yield start, "\n".join(typed)
