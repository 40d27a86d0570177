"""A YAML file as plain data that still knows where each key and value stands."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import NamedTuple

from pydantic import JsonValue

from tidegate.suite.problem import Problem

Key = str | int
KeyPath = tuple[Key, ...]


class Position(NamedTuple):
    """A place in a file, both counted from 1; columns count characters."""

    line: int
    column: int


@dataclass(slots=True)
class Node:
    """A value of the file: a scalar in `value`, or the nodes below it in `children`.

    `keys` says where the keys of a mapping stand. `size` and `height` count what an alias of this node stands for.
    """

    at: Position
    value: str | int | float | bool | None = None
    children: dict[str, Node] | list[Node] | None = None
    keys: dict[str, Position] = field(default_factory=dict)
    written: str = ""
    size: int = 1
    height: int = 1

    def data(self) -> JsonValue:
        """The plain value."""
        if isinstance(self.children, dict):
            return {key: node.data() for key, node in self.children.items()}
        if isinstance(self.children, list):
            return [node.data() for node in self.children]
        return self.value

    def child(self, key: Key) -> Node | None:
        """The node at a key or an index."""
        if isinstance(self.children, dict):
            return self.children.get(key) if isinstance(key, str) else None
        if isinstance(self.children, list) and isinstance(key, int) and key < len(self.children):
            return self.children[key]
        return None

    def walk(self, path: KeyPath) -> Iterator[Node]:
        """This node and those along the path, as far as it goes."""
        node: Node | None = self
        yield self
        for key in path:
            node = node.child(key) if node else None
            if node is None:
                return
            yield node


@dataclass(frozen=True)
class Document:
    """One file that was read: its name in messages, its content and what is wrong with its YAML.

    `root` is None where nothing could be read at all; `problems` then says why.
    """

    file: str
    root: Node | None
    problems: tuple[Problem, ...] = ()

    @property
    def data(self) -> JsonValue:
        """The whole content; None if there is none."""
        return self.root.data() if self.root else None

    def node(self, path: KeyPath) -> Node | None:
        """The node at a path; None if the file does not have it."""
        nodes = list(self.root.walk(path)) if self.root else []
        return nodes[-1] if len(nodes) == len(path) + 1 else None

    def value_at(self, path: KeyPath) -> Position:
        """Where the value at the path stands, or else the nearest thing around it."""
        return list(self.root.walk(path))[-1].at if self.root else Position(1, 1)

    def key_at(self, path: KeyPath) -> Position:
        """Where the key at the end of the path stands, or else the nearest key around it."""
        parent = self.node(path[:-1]) if path else None
        if parent is not None and path[-1] in parent.keys:
            return parent.keys[str(path[-1])]
        if len(path) > 1 and self.node(path) is None:
            return self.key_at(path[:-1])
        return self.value_at(path)

    def problem(self, path: KeyPath, what: str, *, at_key: bool = False) -> Problem:
        """Something that is wrong with the value (or the key) at a path."""
        line, column = self.key_at(path) if at_key else self.value_at(path)
        return Problem(self.file, line, column, spelled(path), what)


def spelled(path: KeyPath) -> str:
    """A path as people write it: `evaluation.gates[2].pattern`."""
    text = "".join(f"[{key}]" if isinstance(key, int) else f".{key}" for key in path)
    return text.removeprefix(".")
