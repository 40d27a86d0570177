"""Reads a YAML file into its model, or lists what is wrong, where, and what may have been meant."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any, TypeVar

from pydantic import BaseModel, JsonValue, ValidationError

from tidegate.suite.document import Document, Key, KeyPath, Node, Problem, read_document
from tidegate.suite.folders import stays_in
from tidegate.suite.plan import base_name, did_you_mean

M = TypeVar("M", bound=BaseModel)
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


def read_file(root: Path, place: str) -> Document:
    """Read the file at a path relative to the root. A link that leads out of the root is a problem."""
    if not stays_in(root, place):
        return Document(place, None, (Problem.of_file(place, "leads out of the repository"),))
    return read_document(root / place, place)


def validated(document: Document, model: type[M], kind: str) -> tuple[M | None, list[Problem]]:
    """Return the file as its model if it fits, and its problems.

    Validation is as strict as for JSON: for example, text is not accepted as a number.
    """
    problems = list(document.problems)
    if document.root is None:
        return None, problems
    if not isinstance(document.root.children, dict):
        return None, [*problems, document.problem((), "must be a mapping (`key: value` lines)")]
    data = with_models_split(document.data) if kind == "suite" else document.data
    try:
        return model.model_validate_json(json.dumps(data), strict=True), problems
    except ValidationError as error:
        broken = {(problem.line, problem.column) for problem in problems}
        found = explain(error, document, kind)
        return None, problems + [problem for problem in found if (problem.line, problem.column) not in broken]


def with_models_split(data: JsonValue) -> JsonValue:
    """Return the suite file's content with one agent per model.

    An invalid `models` stays as it was written; validation reports it later.
    """
    agents = data.get("agents") if isinstance(data, dict) else None
    if not isinstance(data, dict) or not isinstance(agents, dict):
        return data
    split: dict[str, JsonValue] = {}
    for name, agent in agents.items():
        split.update(_split(name, agent))
    return {**data, "agents": split}


def _split(name: str, agent: JsonValue) -> dict[str, JsonValue]:
    if not isinstance(agent, dict) or "model" in agent:
        return {name: agent}
    models = _model_names(agent.get("models"))
    rest = {key: value for key, value in agent.items() if key != "models"}
    return {f"{name}:{model}": {**rest, "model": model} for model in models} or {name: agent}


def _model_names(models: JsonValue) -> list[str]:
    """Return the model names, or an empty list unless `models` is a list of distinct, non-blank names."""
    if not isinstance(models, list):
        return []
    names = [model for model in models if isinstance(model, str) and model.strip()]
    return names if len(set(names)) == len(models) else []


def explain(error: ValidationError, document: Document, kind: str) -> list[Problem]:
    """Return the problems of a file that does not fit its model. The values in the file are not repeated.

    `kind` is the kind of file, as for `file_schema`.
    """
    details = error.errors(include_url=False, include_input=False)
    found = [(_path(detail, document.root), detail) for detail in details[:MOST_PROBLEMS]]
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
        return "is required"
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
    if kind == "suite" and path[:1] == ("agents",) and path[-1] == "models":
        return "must be a list of different model names, without `model` beside it"
    from tidegate.suite.json_schema import known_keys  # 90 ms

    return "unknown key" + did_you_mean(str(path[-1]), known_keys(kind, document.root, path[:-1]))


def _not_one_of(allowed: list[str], node: Node | None) -> str:
    given = node.value if node and isinstance(node.value, str) else ""
    hint = _quote_it(node) if node and node.written in allowed else did_you_mean(given, allowed)
    return f"must be {'' if len(allowed) == 1 else 'one of '}{', '.join(allowed)}{hint}"


def _unknown_type(tag: str, allowed: list[str], node: Node | None) -> str:
    if node is None or not isinstance(node.value, str):
        return "must be text"
    return f"unknown type `{tag}`" + (did_you_mean(tag, allowed) or f" (one of {', '.join(allowed)})")


def _listed(expected: str) -> list[str]:
    """Return the words in a pydantic list such as `'a', 'b' or 'c'`."""
    return re.findall(r"'([^']*)'", expected) or [expected]
