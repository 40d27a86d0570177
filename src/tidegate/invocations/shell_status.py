"""Which commands of a line the shell's exit code is about, by the rules of `&&`, `||`, `;` and `|`."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import NamedTuple

from tree_sitter import Node

from tidegate.model.event import CallStatus

_STOPS_EARLY = re.compile(r"\bset\s+-\w*e|\bpipefail\b")
_GROUPS = frozenset({"program", "subshell", "compound_statement", "pipeline"})
_SEPARATORS = frozenset({";", "&&", "||", "|", "|&", "(", ")", "{", "}", "comment", "\n"})


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
