"""Turns pydantic errors into problems that say where the error is, what is wrong, and what may have been meant."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Any

from pydantic import ValidationError

from tidegate.suite.plan import base_name, did_you_mean
from tidegate.suite.yaml.document import Document, Key, KeyPath, Node, Problem

MOST_PROBLEMS = 50  # reported per file

_KINDS = {
    "string_type": "text",
    "int_type": "a whole number",
    "int_from_float": "a whole number",
    "float_type": "a number",
    "bool_type": "true or false",
    "list_type": "a list",
    "tuple_type": "a list",
    "dict_type": "a mapping",
    "model_type": "a mapping",
    "model_attributes_type": "a mapping",
}
_SENTENCES = {
    "missing": "is required",
    "greater_than": "must be greater than {gt:g}",
    "greater_than_equal": "must be at least {ge:g}",
    "less_than": "must be less than {lt:g}",
    "less_than_equal": "must be at most {le:g}",
    "string_too_short": "must not be empty",
    "too_short": "must not be empty",
}
_AGENT_KEYS = {
    "models": "must be a list of different model names, without `model` beside it",
    "args": "is not a key of this type of agent",
    "max_usd": "is not a key of this type of agent, which has no limit of cost",
    "version": "is not a key of this type of agent",
}


_JUDGED_KEYS = {  # of evaluators and judges in scenarios and cases
    "model": "unknown key: one model judges the whole suite, the one of `judge` in tidegate.yaml",
    "rubrics": "unknown key: an evaluator of type `rubrics` has them, or the case itself",
}


def explain(error: ValidationError, document: Document, kind: str) -> list[Problem]:
    """Return the problems of a file that does not fit its model. The values in the file are not repeated.

    `kind` is the kind of file, as for `file_schema`.
    """
    details = error.errors(include_url=False, include_input=False)
    found = [(_path(detail, document.root), detail) for detail in details[:MOST_PROBLEMS]]
    meant = set(_meant(found, document, kind))
    found = [(path, detail) for path, detail in found if detail["type"] != "missing" or path not in meant]
    entered = {path[:end] for path, _ in found for end in range(len(path))}
    at_key = {path for path, detail in found if _is_about_key(detail)}
    problems: dict[KeyPath, list[str]] = {}
    for path, detail in found:
        if detail["type"] in {*_KINDS, "too_short"} and path in entered:
            continue  # what is in it has errors of its own: a union fits better, and wrong items are not counted
        problems.setdefault(path, []).append(_what(path, detail, document, kind))
    more = [f"has {len(details)} problems; these are the first"] if len(details) > MOST_PROBLEMS else []
    return [
        *(Problem.of_file(document.file, what) for what in more),
        *(document.problem(path, _joined(what), at_key=path in at_key) for path, what in problems.items()),
    ]


def _meant(found: Iterable[tuple[KeyPath, Any]], document: Document, kind: str) -> Iterator[KeyPath]:
    """Yield the keys that unknown keys are suggested to be: a misspelled key is not missing as well."""
    for path, detail in found:
        if detail["type"] == "extra_forbidden":
            suggested = did_you_mean(str(path[-1]), _known_keys(kind, document, path[:-1]))
            if suggested:
                yield (*path[:-1], suggested.split("`")[1])


def _is_about_key(detail: Any) -> bool:
    return detail["type"] in ("missing", "extra_forbidden", "union_tag_not_found") or detail["loc"][-1:] == ("[key]",)


def _joined(what: list[str]) -> str:
    """Join the errors of a union's members into one sentence: `must be text or a mapping`."""
    first, *others = dict.fromkeys(what)
    if not others:
        return first
    return " or ".join([first.partition(";")[0], *(other.removeprefix("must be ") for other in others)])


def _path(detail: Any, root: Node | None) -> KeyPath:
    """Return the key path in the file: pydantic's location without the names of union members."""
    path: list[Key] = []
    node = root
    tagged = False
    place: tuple[Key, ...] = detail["loc"]
    for index, key in enumerate(place):
        last = index == len(place) - 1
        key = _as_written(key, node)
        child = node.child(key) if node else None
        if last and detail["type"] in ("missing", "extra_forbidden"):
            path.append(key)
        elif not tagged and node is not None and _type(node) == key:
            tagged = True
        elif child is not None:
            path.append(key)
            node, tagged = child, False
    if detail["type"].startswith("union_tag_"):
        path.append(detail["ctx"]["discriminator"].strip("'"))
    return tuple(path)


def _as_written(key: Key, node: Node | None) -> Key:
    """Return the key as written: an agent with `models` is validated as `name:model` but written as `name`."""
    if node is None or isinstance(key, int) or node.child(key) is not None:
        return key
    return base_name(key) if node.child(base_name(key)) is not None else key


def _type(node: Node) -> Any:
    child = node.child("type")
    return child.value if child else None


def _what(path: KeyPath, detail: Any, document: Document, kind: str) -> str:
    name, context = detail["type"], detail.get("ctx", {})
    if name == "model_type" and detail["loc"][-1:] == ("mapping",):
        return "must be text or a mapping"
    if name in _KINDS:
        return f"must be {_KINDS[name]}{_quote_it(document.node(path)) if name == 'string_type' else ''}"
    if name == "extra_forbidden":
        return _unknown_key(path, document, kind)
    if name == "literal_error":
        return _not_one_of(_listed(context["expected"]), document.node(path))
    if name == "union_tag_invalid":
        return _unknown_type(context["tag"], _listed(context["expected_tags"]), document.node(path))
    if name == "value_error":
        return str(context["error"])
    if name == "union_tag_not_found":
        return "is required" + _written_instead(path, document)
    if name in _SENTENCES:
        return _SENTENCES[name].format(**context)
    return str(detail["msg"]).removeprefix("Input ").replace("should be", "must be")


def _quote_it(node: Node | None) -> str:
    """Return a hint for a value that should be text but that YAML reads as something else."""
    if node is None or node.children is not None or isinstance(node.value, str):
        return ""
    if isinstance(node.value, bool):
        return f'; YAML reads {node.written} as {str(node.value).lower()}, so quote it: "{node.written}"'
    return "; put it in quotes" if node.value is not None else ", but nothing is here"


def _unknown_key(path: KeyPath, document: Document, kind: str) -> str:
    if kind == "suite" and path[:1] == ("agents",) and len(path) == 3 and path[2] in _AGENT_KEYS:
        return _AGENT_KEYS[str(path[2])]
    if path[-1] in _JUDGED_KEYS and {"evaluators", "judge"}.intersection(path[:-1]) and kind != "suite":
        return _JUDGED_KEYS[str(path[-1])]
    return "unknown key" + did_you_mean(str(path[-1]), _known_keys(kind, document, path[:-1]))


def _written_instead(path: KeyPath, document: Document) -> str:
    """Return a hint with a sibling key whose spelling is close to the missing key."""
    node = document.node(path[:-1])
    close = [key for key in (node.keys if node else ()) if did_you_mean(key, [str(path[-1])])]
    return f" (is `{close[0]}` meant to be `{path[-1]}`?)" if close else ""


def _not_one_of(allowed: list[str], node: Node | None) -> str:
    given = node.value if node and isinstance(node.value, str) else ""
    hint = _quote_it(node) if node and node.written in allowed else did_you_mean(given, allowed)
    return f"must be {'' if len(allowed) == 1 else 'one of '}{', '.join(allowed)}{hint}"


def _unknown_type(tag: str, allowed: list[str], node: Node | None) -> str:
    if node is None or not isinstance(node.value, str):
        return "must be text"
    longer = [one for one in allowed if one.startswith(f"{tag}_")]
    return f"unknown type `{tag}`" + (
        did_you_mean(longer[0] if longer else tag, allowed) or f" (one of {', '.join(allowed)})"
    )


def _listed(expected: str) -> list[str]:
    """Return the words in a pydantic list such as `'a', 'b' or 'c'`."""
    return re.findall(r"'([^']*)'", expected) or [expected]


def _known_keys(kind: str, document: Document, path: KeyPath) -> tuple[str, ...]:
    """Return the keys that the mapping may have. The models of all files are imported only if a key is wrong."""
    from tidegate.suite.json_schema import known_keys  # 90 ms

    return known_keys(kind, document.root, path)
