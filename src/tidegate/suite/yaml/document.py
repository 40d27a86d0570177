"""A YAML file as plain data that keeps the position of each key and value, and problems in it as lines."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import NamedTuple, Self

from pydantic import JsonValue

_WIDTH = 100  # characters of a source line that are shown


class Problem(NamedTuple):
    """A problem: `file:line:column: path.to.key: what is wrong`. Line 0 is the whole file. Sorts by position."""

    file: str
    line: int
    column: int
    key: str
    what: str

    @classmethod
    def of_file(cls, file: str, what: str) -> Self:
        """Return a problem of the file as a whole."""
        return cls(file, 0, 0, "", what)

    def excerpt(self, source: str) -> str:
        """Return the problem's line of the source with a caret below the place; '' for the whole file."""
        lines = source.split("\n")
        if not 0 < self.line <= len(lines):
            return ""
        text, at = lines[self.line - 1].replace("\t", " "), self.column - 1
        start = max(0, at - _WIDTH // 2) if len(text) > _WIDTH else 0
        word = re.compile(r"[\w.-]*").match(text, at)
        marks = "^" + "~" * (len(word[0]) - 1 if word else 0)
        shown, margin = text[start : start + _WIDTH], f"{self.line:>5} | "
        return f"{margin}{shown}\n{' ' * (len(margin) - 2)}| {' ' * (at - start)}{marks[: _WIDTH - at + start]}"

    def __str__(self) -> str:
        place = f"{self.file}:{self.line}:{self.column}" if self.line else self.file
        return ": ".join(part for part in (place, self.key, self.what) if part)


Key = str | int
KeyPath = tuple[Key, ...]


class Position(NamedTuple):
    """A position in a file. Lines and columns count from 1; columns count characters."""

    line: int
    column: int


@dataclass(slots=True)
class Node:
    """A value in the file: a scalar in `value`, or the nodes below it in `children`.

    `keys` holds the positions of a mapping's keys. `size` and `height` measure the expanded value, so that aliases
    cannot get around the limits.
    """

    at: Position
    value: str | int | float | bool | None = None
    children: dict[str, Node] | list[Node] | None = None
    keys: dict[str, Position] = field(default_factory=dict)
    written: str = ""
    size: int = 1
    height: int = 1

    def data(self) -> JsonValue:
        """Return the value as plain data: dicts, lists and scalars."""
        if isinstance(self.children, dict):
            return {key: node.data() for key, node in self.children.items()}
        if isinstance(self.children, list):
            return [node.data() for node in self.children]
        return self.value

    def child(self, key: Key) -> Node | None:
        """Return the node at a key or an index, or None."""
        if isinstance(self.children, dict):
            return self.children.get(key) if isinstance(key, str) else None
        if isinstance(self.children, list) and isinstance(key, int) and key < len(self.children):
            return self.children[key]
        return None

    def walk(self, path: KeyPath) -> Iterator[Node]:
        """Yield this node, then each node along the path as far as the path exists."""
        node: Node | None = self
        yield self
        for key in path:
            node = node.child(key) if node else None
            if node is None:
                return
            yield node


@dataclass(frozen=True)
class Document:
    """A file that was read: its name in messages, its content, and the problems of its YAML.

    `root` is None if the file cannot be read; `problems` says why.
    """

    file: str
    root: Node | None
    problems: tuple[Problem, ...] = ()

    @property
    def data(self) -> JsonValue:
        """The whole content as plain data; None if the file cannot be read."""
        return self.root.data() if self.root else None

    def node(self, path: KeyPath) -> Node | None:
        """Return the node at a path, or None if the file does not contain it."""
        nodes = list(self.root.walk(path)) if self.root else []
        return nodes[-1] if len(nodes) == len(path) + 1 else None

    def value_at(self, path: KeyPath) -> Position:
        """Return the position of the value at the path, or of the nearest value that encloses it."""
        return list(self.root.walk(path))[-1].at if self.root else Position(1, 1)

    def key_at(self, path: KeyPath) -> Position:
        """Return the position of the last key of the path, or of the nearest key that encloses it."""
        parent = self.node(path[:-1]) if path else None
        if parent is not None and path[-1] in parent.keys:
            return parent.keys[str(path[-1])]
        if len(path) > 1 and self.node(path) is None:
            return self.key_at(path[:-1])
        return self.value_at(path)

    def problem(self, path: KeyPath, what: str, *, at_key: bool = False) -> Problem:
        """Return a problem at the position of the value at a path, or of its key."""
        line, column = self.key_at(path) if at_key else self.value_at(path)
        return Problem(self.file, line, column, spelled(path), what)


def spelled(path: KeyPath) -> str:
    """Return the path as people write it: `evaluation.gates[2].pattern`."""
    text = "".join(f"[{key}]" if isinstance(key, int) else f".{key}" for key in path)
    return text.removeprefix(".")
