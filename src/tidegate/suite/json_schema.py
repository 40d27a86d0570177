"""JSON Schemas of Tidegate's files, for editors and for suggestions when a key is misspelled."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from typing import Any

from pydantic import BaseModel

from tidegate.suite.agentv.eval_file import AgentVConfigFile, EvalFile, TargetsFile
from tidegate.suite.document import KeyPath, Node
from tidegate.suite.named_files import RubricFile
from tidegate.suite.scenario_file import ScenarioFile
from tidegate.suite.suite_file import SuiteFile

DIALECT = "https://json-schema.org/draft/2020-12/schema"

_MODELS: dict[str, type[BaseModel]] = {
    "suite": SuiteFile,
    "scenario": ScenarioFile,
    "eval": EvalFile,
    "targets": TargetsFile,
    "agentv-config": AgentVConfigFile,
    "rubric": RubricFile,
}
_AGENT_MODELS = {
    "type": "array",
    "items": {"type": "string", "minLength": 1},
    "minItems": 1,
    "title": "Models",
    "description": "Use instead of `model` to define one agent per model, named `name:model`.",
}


@cache
def file_schema(kind: str) -> dict[str, Any]:
    """Return the JSON Schema of a kind of file: `suite`, `scenario`, `eval` (AgentV), …"""
    schema = _MODELS[kind].model_json_schema()
    if kind == "suite":
        for reference in schema["properties"]["agents"]["additionalProperties"]["discriminator"]["mapping"].values():
            _resolved({"$ref": reference}, schema)["properties"]["models"] = _AGENT_MODELS
    return {"$schema": DIALECT, **schema}


def known_keys(kind: str, root: Node | None, path: KeyPath) -> tuple[str, ...]:
    """Return the keys that the mapping at `path` may have. Empty if the schema does not list them."""
    schema = file_schema(kind)
    places, here = [schema], root
    for key in path:
        here = here.child(key) if here else None
        places = [below for place in places for below in _below(place, key, schema, here)]
    return tuple(dict.fromkeys(name for place in places for name in place.get("properties", {})))


def _below(place: dict[str, Any], key: str | int, root: dict[str, Any], node: Node | None) -> Iterator[dict[str, Any]]:
    if isinstance(key, int):
        inner = place.get("items")
    else:
        inner = place.get("properties", {}).get(key, place.get("additionalProperties"))
    if isinstance(inner, dict):
        yield from _alternatives(inner, root, node)


def _alternatives(place: dict[str, Any], root: dict[str, Any], node: Node | None) -> Iterator[dict[str, Any]]:
    """Yield the schemas that apply, without references and unions. `type` selects the member of a tagged union."""
    place = _resolved(place, root)
    mapping = place.get("discriminator", {}).get("mapping")
    if mapping is not None:
        kind = node.child("type") if node else None
        chosen = mapping.get(kind.value if kind else None)
        yield from _alternatives({"$ref": chosen}, root, node) if chosen else ()
        return
    members = place.get("anyOf") or place.get("oneOf")
    if members is None:
        yield place
        return
    for member in members:
        yield from _alternatives(member, root, node)


def _resolved(place: dict[str, Any], root: dict[str, Any]) -> dict[str, Any]:
    while "$ref" in place:
        place = root["$defs"][place["$ref"].rpartition("/")[2]]
    return place
