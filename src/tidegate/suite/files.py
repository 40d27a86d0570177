"""Reads a YAML file into its model, or reports what is wrong with it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TypeVar

from pydantic import BaseModel, JsonValue, ValidationError

from tidegate.suite.document import Document, Problem, read_document
from tidegate.suite.explain import explain
from tidegate.suite.folders import stays_in

M = TypeVar("M", bound=BaseModel)


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
