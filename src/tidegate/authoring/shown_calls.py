"""What documents and tests show: objects of JSON, calls in Python and JavaScript, and texts. Pure."""

from __future__ import annotations

import ast
import json
import re
import textwrap
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from typing import Any
from warnings import catch_warnings, simplefilter

import yaml

from tidegate.authoring.build_systems.mcp_files import json_values

_BLOCK = re.compile(r"^ *```(\w*)[^\n]*\n(.*?)^ *```", re.MULTILINE | re.DOTALL)
_SUFFIXES = {"javascript": "js", "python": "py", "markdown": "md", "yml": "yaml"}  # of files, by language
_OF_SHELLS = re.compile(r"(?i)(?:ba|z|fi|c)?sh|shell\w*|console|text|plain\w*|output|diff|powershell|cmd|bat|docker\w*")
_GIVEN = re.compile(r"\bcallTool\w*\(\s*(?=\{)|\barguments:\s*(?=\{)|\w\((?:\s*['\"][\w-]+['\"],)?\s*(?=\{)")
_BRACE = re.compile(r"[{}]|'(?:[^'\\\n]|\\.)*'|\"(?:[^\"\\\n]|\\.)*\"|`[^`]*`")
_TEXT = re.compile(  # with more than one line, that is given to something: a docstring is not
    r"""(?<=[=(,\[{+:\s])(?<=[=(,\[{+:]\s|.[(,=\[{])[rfbu]?(\"{3}|'{3}|`)((?:(?!\1)[^\\]|\\.)*)\1"""
    r"""|(?<![\\\w"'`])(["'])((?:(?!\3)[^\\\n]|\\.)+\\n(?:(?!\3)[^\\\n]|\\.)*)\3""",
    re.DOTALL,
)
_PHRASE = re.compile(r"""(?<![\\\w"'`])(["'])((?:(?!\1)[^\\\n{}%]|\\["'\\])+)\1""")
_LINE = re.compile(  # apart from names of tests
    r"""(\b(?:it|test|describe|suite|step|name|title|id)\W{1,3})?(?<![\\\w"'`])((["'])(?:(?!\3)[^\\\n]|\\.)+\3)"""
)
_IN_SHELL = re.compile(
    r"(?<![\w\\'])'([^']+)'|<<-?\s*['\"]?(\w+)['\"]?[^\n]*\n(.*?)\n\s*\2\s*$", re.DOTALL | re.MULTILINE
)
_NO_INPUT = re.compile(r"[\w\s.,!?/@'-]*")  # words, and names of files
_ADDED = re.compile(r"(?<!\\)(['\"])\s*\+\s*\n\s*\1")
_ADJACENT = re.compile(r"(\\n)(['\"])\s*\n\s*\2")
_ESCAPED = re.compile(r"\\(.)", re.DOTALL)
_MEANT = {"n": "\n", "t": "\t", "\n": ""}
LONGEST_PHRASE, LONGEST_LINE = 80, 200  # characters
LONGEST = 4_000  # characters of an object in JavaScript, and of a value with a name in Python


def shown_objects(documents: Iterable[str], tests: Iterable[str]) -> list[dict[str, Any]]:
    """Return the objects that documents and the code of tests show, those inside of others too.

    A call is an object with the name of what is called, and its arguments: an object, or a list in their order.
    """
    blocks = [block for document in documents for _, block in _BLOCK.findall(document)]
    values = [value for block in blocks for value in (*json_values(block), *_in_python(block))]
    values += [value for code in tests for value in (*_in_python(code), *_in_javascript(code))]
    return [*_objects(values)]


def shown_blocks(documents: Iterable[str]) -> list[tuple[str, str]]:
    """Return the blocks of documents in a language other than a shell's, each with that or its files' suffix."""
    found = (block for document in documents for block in _BLOCK.findall(document))
    fit = ((name.lower(), textwrap.dedent(text)) for name, text in found if name and not _OF_SHELLS.fullmatch(name))
    return [*dict.fromkeys((_SUFFIXES.get(name, name), text) for name, text in fit if text.strip())]


def shown_texts(tests: Iterable[str]) -> list[str]:
    """Return the texts of more than one line that the code of tests has, each with a line end."""
    found = (given[2] or given[4] or "" for code in tests for given in _TEXT.finditer(_joined(code)))
    plain = (_whole(_ESCAPED.sub(lambda one: _MEANT.get(one[1], one[1]), text)) for text in found)
    dedented = (textwrap.dedent(text).strip("\n") for text in plain)
    return [*dict.fromkeys(f"{text}\n" for text in dedented if "\n" in text)]


def shown_lines(tests: Iterable[str]) -> list[str]:
    """Return the texts of one line in the code of tests that are more than words and names, each with a line end."""
    lines = (_meant(literal) for code in tests for named, literal, _ in _LINE.findall(_joined(code)) if not named)
    fit = (line for line in lines if len(line) <= LONGEST_LINE and not _NO_INPUT.fullmatch(line))
    return [*dict.fromkeys(f"{line}\n" for line in fit)]


def shown_in_shell(scripts: Iterable[str]) -> list[str]:
    """Return the texts in single quotes and in here-documents, if they are more than words and names, or have several
    lines; each with a line end.
    """
    found = ((one[1] or one[3] or "").strip("\n") for script in scripts for one in _IN_SHELL.finditer(script))
    return [*dict.fromkeys(f"{text}\n" for text in found if "\n" in text or not _NO_INPUT.fullmatch(text))]


def _joined(code: str) -> str:
    """Return the code with texts that it puts together from its lines as one literal each."""
    return _ADDED.sub("", _ADJACENT.sub(r"\1", code))


def _meant(literal: str) -> str:
    """Return what the literal means; escapes that Python has not stand for their character."""
    with suppress(SyntaxError, ValueError), catch_warnings():
        simplefilter("error")  # of an escape that Python has not
        return _whole(str(ast.literal_eval(literal)))
    return _ESCAPED.sub(r"\1", literal[1:-1])


def _whole(text: str) -> str:
    """Return the text with each two surrogates, as JavaScript writes them, as one character; `?` for one alone."""
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace").replace("\ufffd", "?")


def shown_phrases(documents: Iterable[str], tests: Iterable[str]) -> list[str]:
    """Return the texts of one line in examples of documents and in the code of tests that have a character which no
    earlier one has, beside letters and digits of ASCII.
    """
    code = (block for document in documents for _, block in _BLOCK.findall(document))
    found = (_ESCAPED.sub(r"\1", given[2]) for text in (*code, *tests) for given in _PHRASE.finditer(text))
    fit = (one for one in found if re.search(r"\w.* ", one) and len(one) <= LONGEST_PHRASE and one.isprintable())
    known: set[str] = set()
    phrases: list[str] = []
    for phrase in fit:
        new = {one for one in phrase if not (one.isascii() and one.isalnum())} - known
        known |= new
        phrases += [phrase] if new else []
    return phrases


def _objects(values: Iterable[Any]) -> Iterator[dict[str, Any]]:
    waiting = [*filter(_is_json, values)]
    while waiting:
        value = waiting.pop(0)
        if isinstance(value, dict):
            yield value
            waiting += value.values()
        elif isinstance(value, list):
            waiting += value


def _is_json(value: Any) -> bool:
    """Return False for a literal with what JSON has not, such as a date or bytes."""
    with suppress(TypeError, ValueError):
        return bool(json.loads(json.dumps(value, allow_nan=False)) == value)
    return False


def _in_python(code: str) -> Iterator[dict[str, Any]]:
    """Yield the calls of functions, and those that give a name and a dictionary, as a client's `call_tool`."""
    try:
        tree = ast.parse(textwrap.dedent(code))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return
    known: dict[str, Any] = {}
    for node in ast.walk(tree):
        match node:
            case ast.Assign(targets=[ast.Name(id=name)], value=value):
                values = _literal(value, known)
                known.pop(name, None)
                if values and len(repr(values)) <= LONGEST:
                    known[name] = values[0]
            case ast.Call(args=[ast.Constant(value=str(name)), ast.Dict() as given]):
                yield from _call(name, given, known)
            case ast.Call(func=ast.Name(id=name) | ast.Attribute(attr=name), args=[], keywords=[_, *_] as keywords):
                named = {one.arg: one.value for one in keywords if one.arg}
                yield from _call(name, ast.Dict([*map(ast.Constant, named)], [*named.values()]), known)
            case ast.Call(func=ast.Name(id=name), args=[_, *_] as given, keywords=[]):
                yield from _call(name, ast.List(given), known)
            case _:
                pass


def _call(name: str, given: ast.Dict | ast.List, known: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    yield from ({"name": name, "arguments": one} for one in _literal(given, known))


def _literal(value: ast.expr, known: Mapping[str, Any]) -> list[Any]:
    """Return the value of an expression of literals and of names of some; none of another one."""
    with suppress(ValueError, TypeError, RecursionError):
        return [ast.literal_eval(_Named(known).visit(value))]
    return []


class _Named(ast.NodeTransformer):
    """Puts the values that were assigned to names in their place."""

    def __init__(self, known: Mapping[str, Any]) -> None:
        self._known = known

    def visit_Name(self, node: ast.Name) -> ast.expr:
        return ast.Constant(self._known[node.id]) if node.id in self._known else node


def _in_javascript(code: str) -> Iterator[dict[str, Any]]:
    """Yield the objects that are given to a function; literals are YAML, too."""
    for start in _GIVEN.finditer(code):
        depth, text = 0, code[start.end() : start.end() + LONGEST]
        for brace in _BRACE.finditer(text):
            depth += {"{": 1, "}": -1}.get(brace[0], 0)
            if depth == 0:
                yield from _literals(text[: brace.end()])
                break


def _literals(text: str) -> Iterator[dict[str, Any]]:
    """Yield the object, unless it has names of variables: in YAML, these are texts without quotes."""
    with suppress(yaml.YAMLError, ValueError, RecursionError):
        if not any(map(_is_plain, _values(yaml.compose(text, yaml.SafeLoader)))):
            yield yaml.safe_load(text)


def _values(node: yaml.Node | None) -> Iterator[yaml.ScalarNode]:
    """Yield the values, without the keys."""
    if isinstance(node, yaml.MappingNode):
        yield from (one for _, value in node.value for one in _values(value))
    elif isinstance(node, yaml.SequenceNode):
        yield from (one for value in node.value for one in _values(value))
    elif isinstance(node, yaml.ScalarNode):
        yield node


def _is_plain(node: yaml.ScalarNode) -> bool:
    return node.style is None and node.tag in ("tag:yaml.org,2002:str", "tag:yaml.org,2002:timestamp")
