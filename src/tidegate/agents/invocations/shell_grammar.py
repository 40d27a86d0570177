"""Splits shell text into command lines, using tree-sitter's Bash grammar.

Limitations: it does not see a target that is called through a variable, an alias or a launcher such as `npx`, nor a
function defined on an earlier line. It always parses Bash, although `sh` runs the text. The grammar does not support
`<<EOF>file` without a space: such a line counts as incomplete.
"""

from __future__ import annotations

import re
import shlex
from bisect import bisect_left
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from pathlib import PurePosixPath
from typing import NamedTuple

import tree_sitter_bash
from tree_sitter import Language, Node, Parser

from tidegate.model.event import CallStatus
from tidegate.model.value import Value

_STOPS_EARLY = re.compile(r"\bset\s+-\w*e|\bpipefail\b")
_GROUPS = frozenset({"program", "subshell", "compound_statement", "pipeline"})
_SEPARATORS = frozenset({";", "&&", "||", "|", "|&", "(", ")", "{", "}", "comment", "\n"})

# Programs that run the command in their arguments.
_WRAPPERS = frozenset({"command", "env", "exec", "nice", "nohup", "sudo", "time", "timeout", "xargs"})
_SHELLS = frozenset({"bash", "dash", "sh", "zsh"})
_COMMAND_OPTION = re.compile(r"-[a-z]*c")
_STATE_COMMANDS = frozenset({"cd", "source", ".", "set", "umask"})
_STATE_NODES = frozenset({"declaration_command", "unset_command", "variable_assignment", "variable_assignments"})
_LITERAL = frozenset({"string", "raw_string", "ansi_c_string", "heredoc_body", "comment"})
# The grammar parses `<id>` as two redirections, so placeholders are masked and the text is parsed again.
_ANGLE = re.compile(rb"(?<!<)<(?:[A-Za-z](?:[\w .:|/-]*[\w.])?|\.\.\.|\xe2\x80\xa6)>")
_ELISION = re.compile(r"""(["']?)\[?(?:\.\.\.|…)\]?\1|[^"'].*…|….*""")
_CONTINUATION = re.compile(r"\s*\\\n\s*")
_OF_WRAPPER = re.compile(r"-|\d[\d.]*[smhd]?$|[A-Za-z_]\w*=")  # an option, a duration, a variable
_YOURS = re.compile(r"\bYOUR[_-][A-Z]")


class Tells(NamedTuple):
    """What the shell's exit code tells about one command.

    `success`: 0 means that it succeeded. `failure`: another code means that it failed. `code`: the code is its own.
    """

    success: bool = False
    failure: bool = False
    code: bool = False

    def within(self, outer: Tells) -> Tells:
        """Return what the outer shell's code tells about a command that an inner shell runs."""
        return Tells(*(mine and theirs for mine, theirs in zip(self, outer, strict=True)))

    def status(self, code: int | None) -> tuple[CallStatus, int | None]:
        """Return the command's status and exit code if the shell ended with `code`; never guessed."""
        if code is None:
            return "unknown", None
        if code == 0:
            return ("ok", 0) if self.success else ("unknown", None)
        return ("error", code if self.code else None) if self.failure else ("unknown", None)


Told = Mapping[int, Tells]
"""What the exit code tells about each command, by the id of its node. Nothing about a command that is not in it."""


class ShellCall(Value):
    """One call of the target as written: the word in command position, and its arguments."""

    program: str
    argv: tuple[str, ...]


class ShellLine(Value):
    """One command line, which may span several rows (a continuation, a loop, a heredoc).

    `tells` holds, for each of `calls`, what the exit code of the whole text tells about it.
    `state` holds its commands that change the shell itself (`cd`, `export`, …). `variable` is set if the line only
    stores the output of a call of the target in that variable.
    """

    row: int  # from 0
    text: str
    calls: tuple[ShellCall, ...] = ()
    tells: tuple[Tells, ...] = ()
    state: tuple[str, ...] = ()
    variable: str | None = None
    unfit: str | None = None  # why the line cannot be executed
    programs: tuple[str, ...] = ()  # the words in command position, in text order
    words: tuple[str, ...] = ()  # arguments as written, with their quotes, and the files that it reads


def shell_lines(text: str, target: str) -> tuple[ShellLine, ...]:
    """Return the command lines of the text in order, without comments and blank lines."""
    source = text.encode(errors="replace")
    angles = _angles(source)
    masked = bytearray(source)
    for start, end in angles:
        masked[start:end] = b"_" * (end - start)
    root = _parser().parse(bytes(masked)).root_node
    groups = (_without_comments(group) for group in _by_row(root))
    starts, told = [start for start, _ in angles], told_of_commands(root)
    return tuple(_line(group, source, target, told, _holds_any(group, starts)) for group in groups if group)


@cache
def _parser() -> Parser:
    return Parser(Language(tree_sitter_bash.language()))


def _angles(source: bytes) -> list[tuple[int, int]]:
    """Return the byte ranges of placeholders such as `<id>`, except in quoted strings, heredocs and comments."""
    spans = [match.span() for match in _ANGLE.finditer(source)]
    if not spans:
        return []
    root = _parser().parse(source).root_node
    return [span for span in spans if not _is_literal(root, *span)]


def _is_literal(root: Node, start: int, end: int) -> bool:
    node = root.named_descendant_for_byte_range(start, end)
    while node is not None and node.type != "command_substitution":
        if node.type in _LITERAL:
            return True
        node = node.parent
    return False


def _by_row(root: Node) -> Iterator[list[Node]]:
    """Yield the top-level statements, grouped by row: `a; b` is one command line."""
    group: list[Node] = []
    for node in [root] if root.type == "ERROR" else root.children:
        if group and node.start_point.row > group[-1].end_point.row:
            yield group
            group = []
        group.append(node)
    if group:
        yield group


def _without_comments(group: Sequence[Node]) -> list[Node]:
    return [node for node in group if node.type != "comment"]


def _line(group: Sequence[Node], source: bytes, target: str, told: Told, placeholder: bool) -> ShellLine:
    text = source[group[0].start_byte : group[-1].end_byte].decode().strip()
    nodes = [node for top in group for node in _walk(top)]
    broken = any(top.has_error for top in group)
    found = [call for node in nodes for call in _calls(node, target, told)]
    if broken and not found and _names(text, target):
        found = [(ShellCall(program=target, argv=()), Tells())]
    if not any(node.type in _LITERAL and node.end_point.row > node.start_point.row for node in nodes):
        text = _CONTINUATION.sub(" ", text)
    return ShellLine(
        row=group[0].start_point.row,
        text=text,
        calls=tuple(call for call, _ in found),
        tells=tuple(tells for _, tells in found),
        state=tuple(part for top in group for part in _state(top, target)),
        variable=_variable(group) if found else None,
        unfit=_unfit(broken, placeholder or any(map(_is_placeholder, nodes))),
        programs=tuple(_text(node) for node in nodes if node.type == "command_name"),
        words=tuple(_text(node) for node in nodes if _is_argument(node)),
    )


def _unfit(broken: bool, placeholder: bool) -> str | None:
    if placeholder:
        return "it holds a placeholder"
    return "it is not a complete shell command" if broken else None


def _walk(top: Node, into: str | None = None) -> Iterator[Node]:
    """Yield the node and all its descendants in text order; with `into`, descend only into nodes of that type."""
    waiting = [top]  # iterative: a document may nest deeper than Python's recursion limit
    while waiting:
        node = waiting.pop()
        yield node
        if into in (None, node.type):
            waiting.extend(reversed(node.children))


def _is_argument(node: Node) -> bool:
    """Return True for an argument of a command and for a file that is redirected to its input."""
    above = node.parent
    if above is None or not node.is_named:
        return False
    if above.type == "file_redirect":
        return _text(above).lstrip("0123456789").startswith("<")
    return above.type == "command" and node.type not in ("command_name", "variable_assignment", "file_redirect")


def _calls(node: Node, target: str, told: Told) -> Iterator[tuple[ShellCall, Tells]]:
    """Yield the target's calls in a command node: direct, through a wrapper (`sudo tool`), or inside `sh -c`."""
    if node.type != "command" or (name := node.child_by_field_name("name")) is None:
        return
    words = [_text(name), *map(_text, node.children_by_field_name("argument"))]
    start = 0
    if words[0] in _WRAPPERS:
        start = _wrapped(words, target)
    tells = told.get(node.id, Tells())
    for line in shell_lines(text, target) if (text := _given_to_shell(words)) is not None else ():
        for call, inner in zip(line.calls, line.tells, strict=True):
            yield call, inner.within(tells)
    if _is_target(words[start], target):
        yield ShellCall(program=words[start], argv=tuple(map(_unquoted, words[start + 1 :]))), tells


def _wrapped(words: Sequence[str], target: str) -> int:
    """Return the place of the target if a wrapper runs it, else 0.

    Between them are only options with their values, durations and variables: `sudo apt install tool` runs `apt`.
    """
    for place in range(1, len(words)):
        if _is_target(words[place], target):
            return place
        if not (_OF_WRAPPER.match(words[place]) or words[place - 1].startswith("-")):
            break
    return 0


def _given_to_shell(words: Sequence[str]) -> str | None:
    """Return `TEXT` of `bash -c TEXT`; None if the command is not of that form."""
    shell = next((place for place, word in enumerate(words) if PurePosixPath(word).name in _SHELLS), None)
    if shell is None or (shell > 0 and words[0] not in _WRAPPERS):
        return None
    option = next((place for place in range(shell + 1, len(words)) if _COMMAND_OPTION.fullmatch(words[place])), None)
    return None if option is None or option + 1 >= len(words) else _unquoted(words[option + 1])


def _is_target(word: str, target: str) -> bool:
    return PurePosixPath(word).name == PurePosixPath(target).name


def _names(text: str, target: str) -> bool:
    """Return True if a row starts with the target's name: the best guess for text that is not valid shell."""
    return re.search(rf"^\s*{re.escape(target)}(\s|$)", text, re.MULTILINE) is not None


def _state(node: Node, target: str) -> Iterator[str]:
    """Yield the commands that change the shell itself, except in subshells, pipes, loops and conditions.

    Commands that call the target are left out, because repeating them would call the target again.
    """
    for part in _walk(node, into="list"):
        if _changes_shell(part) and not any(call for inner in _walk(part) for call in _calls(inner, target, {})):
            yield _text(part)


def _changes_shell(node: Node) -> bool:
    name = node.child_by_field_name("name")
    return node.type in _STATE_NODES or (node.type == "command" and name is not None and _text(name) in _STATE_COMMANDS)


def _variable(group: Sequence[Node]) -> str | None:
    """Return `ID` if the line consists only of `ID=$(tool add)`."""
    if len(group) != 1 or group[0].type != "variable_assignment":
        return None
    name = group[0].child_by_field_name("name")
    return None if name is None else _text(name)


def _is_placeholder(node: Node) -> bool:
    if node.type not in ("word", "string", "raw_string"):
        return False
    text = _text(node)
    return _ELISION.fullmatch(text) is not None or _YOURS.search(text) is not None


def _holds_any(group: Sequence[Node], places: Sequence[int]) -> bool:
    """Return True if one of the ascending byte offsets lies in the group."""
    return bisect_left(places, group[0].start_byte) < bisect_left(places, group[-1].end_byte)


def _text(node: Node) -> str:
    return (node.text or b"").decode()


def _unquoted(word: str) -> str:
    try:
        return "".join(shlex.split(word)) if word[:1] in ("'", '"') else word
    except ValueError:
        return word


_ALL = Tells(success=True, failure=True, code=True)


def told_of_commands(root: Node) -> Told:
    """Return what the exit code of the whole text tells about its commands."""
    text = (root.text or b"").decode()
    whole = Tells(success=True) if _STOPS_EARLY.search(text) else _ALL
    told: dict[int, Tells] = {}
    waiting = [(root, whole)]  # iterative: a document may nest deeper than Python's recursion limit
    while waiting:
        node, tells = waiting.pop()
        if node.type == "command":
            told[node.id] = tells
        waiting.extend(_parts(node, tells))
    return told


def _parts(node: Node, tells: Tells) -> Iterator[tuple[Node, Tells]]:
    """Yield the parts of a compound command that its exit code tells something about."""
    parts = [part for part in node.children if part.type not in _SEPARATORS]
    if not parts:
        return
    if node.type in _GROUPS and parts[-1].type != "&":  # only the last one's status is reported
        yield parts[-1], tells
    elif node.type == "redirected_statement":
        yield parts[0], tells
    elif node.type == "list" and len(parts) == 2:
        is_and = any(part.type == "&&" for part in node.children)
        yield parts[0], Tells(success=tells.success and is_and, failure=tells.failure and not is_and)
        yield parts[1], tells._replace(failure=False, code=False) if is_and else tells._replace(success=False)
