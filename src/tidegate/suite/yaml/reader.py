"""Reads a YAML file into a Document with positions, and limits its depth and size.

PyYAML parses the file into events; its C parser is used if available. The document is built here, because
PyYAML's composer accepts duplicate keys, expands aliases without limit and does not keep positions.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path
from typing import Any

import yaml
from yaml.constructor import SafeConstructor
from yaml.reader import Reader
from yaml.resolver import Resolver

from tidegate.suite.yaml.document import Document, Node, Position, Problem

MAX_BYTES = 1_000_000
MAX_DEPTH = 50
MAX_SIZE = 2_000_000
MOST_PROBLEMS = 50
# Both sides of a pull request and the working tree mostly have the same texts: what was made of the last ones is kept.
REPEATED = 300  # texts
MOST_REPEATED = 10_000  # characters of each
NODE_SIZE = 10  # added to each value's length, so that a file has at most 200,000 values

_LOADER: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


def read_document(path: Path, file: str) -> Document:
    """Read one YAML file. `file` is its name in messages. Raises nothing: the document has the problems."""
    content = _content(path, file)
    if isinstance(content, Problem):
        return Document(file, None, (content,))
    return (_parsed_once if len(content) <= MOST_REPEATED else parse)(content, file)


def parse(text: str, file: str) -> Document:
    """Parse one document. Limits on depth and size, duplicate keys and unsupported tags are reported as problems."""
    builder = _Builder(file)
    try:
        _refuse_unprintable(text)
        root = builder.document(yaml.parse(text, Loader=_LOADER))
    except _Refused as refused:
        return Document(file, None, (*builder.problems, Problem(file, *refused.at, "", refused.what)))
    except yaml.MarkedYAMLError as error:
        return Document(file, None, (*builder.problems, _syntax_problem(error, text, file)))
    except yaml.YAMLError:
        return Document(file, None, (Problem.of_file(file, "is not YAML"),))
    return Document(file, root, tuple(builder.problems))


_parsed_once = lru_cache(REPEATED)(parse)


class _Refused(Exception):  # noqa: N818 (caught in this module)
    """Reading stops here: the rest of the file cannot be read."""

    def __init__(self, at: Position, what: str) -> None:
        super().__init__(what)
        self.at = at
        self.what = what


def _content(path: Path, file: str) -> str | Problem:
    try:
        if path.is_dir():
            return Problem.of_file(file, "is a folder, not a file")
        if not path.is_file():
            return Problem.of_file(file, "is not a regular file" if path.exists() else "no such file")
        with path.open("rb") as stream:
            raw = stream.read(MAX_BYTES + 1)
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else None
        return Problem.of_file(file, f"cannot be read ({reason or 'not a usable name'})")
    if len(raw) > MAX_BYTES:
        return Problem.of_file(file, f"is larger than {MAX_BYTES:,} bytes")
    try:
        return raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        at = _end_of(raw[: error.start].decode("utf-8", "replace"))
        return Problem(file, *at, "", f"is not UTF-8 text (byte 0x{raw[error.start]:02x})")


def _end_of(text: str) -> Position:
    return Position(text.count("\n") + 1, len(text) - text.rfind("\n"))


def _refuse_unprintable(text: str) -> None:
    found = Reader.NON_PRINTABLE.search(text)
    if found:
        what = f"the character U+{ord(found.group()):04X} is not allowed in YAML"
        raise _Refused(_end_of(text[: found.start()]), what)


def _syntax_problem(error: yaml.MarkedYAMLError, text: str, file: str) -> Problem:
    mark = error.problem_mark or error.context_mark
    line, column = (mark.line, mark.column) if mark else (0, 0)
    lines = text.split("\n")
    if line < len(lines) and lines[line][column : column + 1] == "\t":
        return Problem(file, line + 1, column + 1, "", "a tab cannot indent YAML; use spaces")
    what = " ".join(part for part in (error.problem, error.context) if part)
    hint = "; check the indentation" if "block" in what else ""
    return Problem(file, line + 1, column + 1, "", f"is not YAML: {what}{hint}")


def _at(event: Any) -> Position:
    return Position(event.start_mark.line + 1, event.start_mark.column + 1)


class _Builder:
    """Builds one document from parser events. `problems` collects errors that do not stop the reading."""

    def __init__(self, file: str) -> None:
        self.file = file
        self.problems: list[Problem] = []
        self.anchors: dict[str, Node] = {}
        self.size = 0
        self.events: Iterator[Any] = iter(())

    def document(self, events: Iterator[Any]) -> Node:
        """Return the root node. Raises _Refused if the file is empty or has more than one document."""
        self.events = events
        root: Node | None = None
        for event in events:
            if isinstance(event, yaml.DocumentStartEvent):
                if root is not None:
                    raise _Refused(_at(event), "only one document is allowed in a file (a second begins here)")
                root = self._node(next(events), 1)
        if root is None or (root.value is None and root.children is None and not root.written):
            raise _Refused(Position(1, 1), "is empty")
        return root

    def _node(self, event: Any, depth: int) -> Node:
        if isinstance(event, yaml.AliasEvent):
            node = self._aliased(event)
            self.size += node.size
        else:
            node = self._new_node(event, depth)
            self.size += NODE_SIZE + len(node.written)
            if event.anchor:
                self.anchors[event.anchor] = node
        if self.size > MAX_SIZE:
            raise _Refused(_at(event), "holds too many values (aliases count as what they stand for)")
        self._check_depth(event, depth + node.height - 1)
        return node

    def _new_node(self, event: Any, depth: int) -> Node:
        if isinstance(event, yaml.ScalarEvent):
            return Node(_at(event), self._scalar(event), written=event.value, size=NODE_SIZE + len(event.value))
        self._check_depth(event, depth)
        kind = "seq" if isinstance(event, yaml.SequenceStartEvent) else "map"
        if not is_container_tag(event.tag, kind):
            self._complain(_at(event), f"the tag {shown(event.tag)} is not allowed here")
        return self._sequence(event, depth) if kind == "seq" else self._mapping(event, depth)

    def _aliased(self, event: Any) -> Node:
        if event.anchor not in self.anchors:
            raise _Refused(_at(event), f"the alias *{event.anchor} has no finished anchor above it")
        return self.anchors[event.anchor]

    def _sequence(self, start: Any, depth: int) -> Node:
        children: list[Node] = []
        while not isinstance(event := next(self.events), yaml.SequenceEndEvent):
            children.append(self._node(event, depth + 1))
        return _container(Node(_at(start), children=children), children)

    def _mapping(self, start: Any, depth: int) -> Node:
        children: dict[str, Node] = {}
        node = Node(_at(start), children=children)
        merged: list[Node] = []
        while not isinstance(event := next(self.events), yaml.MappingEndEvent):
            key = self._key(event, self._node(event, depth + 1))
            value = self._node(next(self.events), depth + 1)
            if key == "<<" and isinstance(event, yaml.ScalarEvent) and not event.style:
                merged += self._merged(value)
            elif key is not None and key in children:
                first = node.keys[key]
                self._complain(_at(event), f"the key `{key}` occurs twice (first in line {first.line})")
            elif key is not None:
                children[key], node.keys[key] = value, _at(event)
        for source in merged:
            _merge(source, children, node.keys)
        return _container(node, list(children.values()))

    def _merged(self, value: Node) -> list[Node]:
        sources = value.children if isinstance(value.children, list) else [value]
        if not all(isinstance(source.children, dict) for source in sources):
            self._complain(value.at, "`<<` takes a mapping, or a list of mappings")
        return sources

    def _key(self, event: Any, node: Node) -> str | None:
        if isinstance(node.value, str):
            return node.value
        if isinstance(node.value, bool):
            what = f'YAML reads the key `{node.written}` as {str(node.value).lower()}; quote it: "{node.written}"'
        elif node.children is None:
            what = f'a key must be text; quote it: "{node.written}"'
        else:
            what = "a key must be text, not a list or a mapping"
        self._complain(_at(event), what)
        return None

    def _scalar(self, event: Any) -> Scalar:
        try:
            return scalar_value(event)
        except ValueError as error:
            self._complain(_at(event), str(error))
            return ""

    def _check_depth(self, event: Any, depth: int) -> None:
        if depth > MAX_DEPTH:
            raise _Refused(_at(event), f"is nested more than {MAX_DEPTH} levels deep")

    def _complain(self, at: Position, what: str) -> None:
        if len(self.problems) == MOST_PROBLEMS:
            raise _Refused(at, "contains too many errors to go on")
        self.problems.append(Problem(self.file, *at, "", what))


def _container(node: Node, children: list[Node]) -> Node:
    node.size = NODE_SIZE + sum(child.size for child in children)
    node.height = 1 + max((child.height for child in children), default=0)
    return node


def _merge(source: Node, children: dict[str, Node], keys: dict[str, Position]) -> None:
    for key, value in source.children.items() if isinstance(source.children, dict) else ():
        if key not in children:
            children[key], keys[key] = value, source.keys[key]


Scalar = str | int | float | bool | None

MAX_NUMBER = 2**63

_TAG = "tag:yaml.org,2002:"
_TEXT_TAGS = frozenset({"str", "timestamp", "value", "merge"})  # dates stay text, since no key takes a date
_RESOLVER: Any = Resolver()
_CONSTRUCTOR = SafeConstructor()


def scalar_value(event: Any) -> Scalar:
    """Return the value of a scalar event by YAML 1.1, except that dates stay text.

    Raises ValueError with the reason if the value is not allowed.
    """
    tag: str | None = event.tag
    if tag is None:
        tag = str(_RESOLVER.resolve(yaml.ScalarNode, event.value, event.implicit))
    kind = "str" if tag == "!" else tag.removeprefix(_TAG)
    if kind in _TEXT_TAGS:
        return _text(event.value)
    if kind == "null":
        return None
    if kind == "bool" and event.value.lower() in SafeConstructor.bool_values:
        return SafeConstructor.bool_values[event.value.lower()]
    if kind in ("int", "float"):
        return _number(kind, event.value)
    raise ValueError(f"the tag {shown(tag)} is not allowed here")


def is_container_tag(tag: str | None, kind: str) -> bool:
    """Return True if there is no tag, or the default tag of a sequence (`seq`) or mapping (`map`)."""
    return tag in (None, "!", _TAG + kind)


def shown(tag: str) -> str:
    """Return a tag in its short form: `!!python/name`."""
    return f"!!{tag.removeprefix(_TAG)}" if tag.startswith(_TAG) else tag


def _text(value: str) -> str:
    if "\0" in value:
        raise ValueError("must not hold a NUL character")
    try:
        value.encode()
    except UnicodeEncodeError:
        raise ValueError("must not hold half of a surrogate pair") from None
    return value


def _number(kind: str, value: str) -> int | float:
    node = yaml.ScalarNode(_TAG + kind, value)
    construct = _CONSTRUCTOR.construct_yaml_int if kind == "int" else _CONSTRUCTOR.construct_yaml_float
    try:
        number: int | float = construct(node)
    except (ValueError, IndexError, OverflowError):
        raise ValueError("is not a number; quote it if it is text") from None
    if not abs(number) <= MAX_NUMBER:  # `not <=` rather than `>`, to reject NaN too
        raise ValueError("is a number too large, or not finite; quote it if it is text")
    return number
