"""Reads a YAML file as plain data that keeps the position of each key and value, and describes problems by position.

PyYAML makes the nodes. They become data here, since PyYAML accepts duplicate keys and expands aliases without limit.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple, Self

import yaml
from pydantic import JsonValue
from yaml.constructor import SafeConstructor

MAX_BYTES = 1_000_000
MAX_DEPTH = 50
MAX_SIZE = 2_000_000
MAX_NUMBER = 2**63
MOST_PROBLEMS = 50
NODE_SIZE = 10  # added to each value's length, so that a file has at most 200,000 values

_TAG = "tag:yaml.org,2002:"
_TEXT = frozenset({"str", "timestamp", "value", "merge"})  # dates stay text, since no key takes a date
_CONSTRUCTOR = SafeConstructor()

Key = str | int
KeyPath = tuple[Key, ...]


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

    def __str__(self) -> str:
        place = f"{self.file}:{self.line}:{self.column}" if self.line else self.file
        return ": ".join(part for part in (place, self.key, self.what) if part)


class Position(NamedTuple):
    """A position in a file. Lines and columns count from 1; columns count characters."""

    line: int
    column: int


@dataclass(slots=True)
class Node:
    """A value in the file: a scalar in `value`, as it is `written`, or the nodes below it in `children`.

    `keys` holds the positions of a mapping's keys.
    """

    at: Position
    value: str | int | float | bool | None = None
    children: dict[str, Node] | list[Node] | None = None
    keys: dict[str, Position] = field(default_factory=dict)
    written: str = ""

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
        spelled = "".join(f"[{key}]" if isinstance(key, int) else f".{key}" for key in path).removeprefix(".")
        return Problem(self.file, line, column, spelled, what)


def read_document(path: Path, file: str) -> Document:
    """Read one YAML file. `file` is its name in messages. Raises nothing: the document has the problems."""
    try:
        if not path.is_file():
            found = "is not a regular file" if path.exists() else "no such file"
            return Document(file, None, (Problem.of_file(file, found),))
        with path.open("rb") as stream:
            raw = stream.read(MAX_BYTES + 1)
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else None
        return Document(file, None, (Problem.of_file(file, f"cannot be read ({reason or 'not a usable name'})"),))
    if len(raw) > MAX_BYTES:
        return Document(file, None, (Problem.of_file(file, f"is larger than {MAX_BYTES:,} bytes"),))
    try:
        return parse(raw.decode("utf-8-sig"), file)
    except UnicodeDecodeError as error:
        what = f"is not UTF-8 text (byte 0x{raw[error.start]:02x} at {error.start})"
        return Document(file, None, (Problem.of_file(file, what),))


def parse(text: str, file: str) -> Document:
    """Parse one document. Limits on depth and size, duplicate keys and unsupported tags are reported as problems."""
    reader = _Reader(file)
    try:
        root = yaml.compose(text, Loader=yaml.CSafeLoader)
        if root is None:
            raise _Refused(Position(1, 1), "is empty")
        return Document(file, reader.node(root, 1), tuple(reader.problems))
    except _Refused as refused:
        return Document(file, None, (*reader.problems, Problem(file, *refused.at, "", refused.what)))
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        what = "; ".join(part for part in (error.context, error.problem) if part)
        at = Position(mark.line + 1, mark.column + 1) if mark else Position(1, 1)
        return Document(file, None, (Problem(file, *at, "", f"is not YAML: {what}"),))
    except yaml.YAMLError as error:
        return Document(file, None, (Problem.of_file(file, f"is not YAML: {str(error).splitlines()[0]}"),))


class _Refused(Exception):  # noqa: N818 (caught in this module)
    """Reading stops here: the rest of the file cannot be read."""

    def __init__(self, at: Position, what: str) -> None:
        super().__init__(what)
        self.at = at
        self.what = what


class _Reader:
    """Turns PyYAML's nodes into ours. An alias is the node of its anchor, and counts each time.

    `problems` collects errors that do not stop the reading.
    """

    def __init__(self, file: str) -> None:
        self.problems: list[Problem] = []
        self._file = file
        self._size = 0

    def node(self, found: yaml.Node, depth: int) -> Node:
        """Return the node with all below it. Raises _Refused if it is too deep or too large."""
        at = _at(found)
        written = found.value if isinstance(found, yaml.ScalarNode) else ""
        self._size += NODE_SIZE + len(written)
        if depth > MAX_DEPTH:
            raise _Refused(at, f"is nested more than {MAX_DEPTH} levels deep")
        if self._size > MAX_SIZE:
            raise _Refused(at, "holds too many values (aliases count as what they stand for)")
        if isinstance(found, yaml.ScalarNode):
            return Node(at, self._scalar(found, at), written=written)
        if found.tag not in (f"{_TAG}seq", f"{_TAG}map"):
            self._complain(at, f"the tag {_shown(found.tag)} is not allowed here")
        if isinstance(found, yaml.SequenceNode):
            return Node(at, children=[self.node(item, depth + 1) for item in found.value])
        return self._mapping(found, Node(at), depth)

    def _mapping(self, found: Any, node: Node, depth: int) -> Node:
        children: dict[str, Node] = {}
        merged: list[Node] = []
        for key_node, value_node in found.value:
            key = self._key(key_node, depth)
            value = self.node(value_node, depth + 1)
            if key_node.tag == f"{_TAG}merge":
                merged += self._merged(value)
            elif key is not None and key in children:
                self._complain(_at(key_node), f"the key `{key}` occurs twice (first in line {node.keys[key].line})")
            elif key is not None:
                children[key], node.keys[key] = value, _at(key_node)
        for source in merged:
            for key, value in source.children.items() if isinstance(source.children, dict) else ():
                if key not in children:
                    children[key], node.keys[key] = value, source.keys[key]
        node.children = children
        return node

    def _merged(self, value: Node) -> list[Node]:
        sources = value.children if isinstance(value.children, list) else [value]
        if not all(isinstance(source.children, dict) for source in sources):
            self._complain(value.at, "`<<` takes a mapping, or a list of mappings")
        return sources

    def _key(self, found: yaml.Node, depth: int) -> str | None:
        node = self.node(found, depth + 1)
        if isinstance(node.value, str):
            return node.value
        if isinstance(node.value, bool):
            what = f'YAML reads the key `{node.written}` as {str(node.value).lower()}; quote it: "{node.written}"'
        elif node.children is None:
            what = f'a key must be text; quote it: "{node.written}"'
        else:
            what = "a key must be text, not a list or a mapping"
        self._complain(node.at, what)
        return None

    def _scalar(self, found: yaml.ScalarNode, at: Position) -> str | int | float | bool | None:
        try:
            return _value(found)
        except ValueError as error:
            self._complain(at, str(error))
            return ""

    def _complain(self, at: Position, what: str) -> None:
        if len(self.problems) == MOST_PROBLEMS:
            raise _Refused(at, "contains too many errors to go on")
        self.problems.append(Problem(self._file, *at, "", what))


def _at(node: yaml.Node) -> Position:
    return Position(node.start_mark.line + 1, node.start_mark.column + 1)


def _value(node: yaml.ScalarNode) -> str | int | float | bool | None:
    """Return the value of a scalar by YAML 1.1, except that dates stay text. Raises ValueError if it is not allowed."""
    kind, text = node.tag.removeprefix(_TAG), node.value
    if kind in _TEXT:
        if "\0" in text:
            raise ValueError("must not hold a NUL character")
        return str(text)
    if kind == "null":
        return None
    if kind == "bool" and text.lower() in SafeConstructor.bool_values:
        return SafeConstructor.bool_values[text.lower()]
    if kind in ("int", "float"):
        return _number(node, kind)
    raise ValueError(f"the tag {_shown(node.tag)} is not allowed here")


def _number(node: yaml.ScalarNode, kind: str) -> int | float:
    construct = _CONSTRUCTOR.construct_yaml_int if kind == "int" else _CONSTRUCTOR.construct_yaml_float
    try:
        number: int | float = construct(node)
    except (ValueError, IndexError, OverflowError):
        raise ValueError("is not a number; quote it if it is text") from None
    if not abs(number) <= MAX_NUMBER:  # `not <=` rather than `>`, to reject NaN too
        raise ValueError("is a number too large, or not finite; quote it if it is text")
    return number


def _shown(tag: str) -> str:
    """Return a tag in its short form: `!!python/name`."""
    return f"!!{tag.removeprefix(_TAG)}" if tag.startswith(_TAG) else tag
