"""Reads a YAML file into its model, or reports what is wrong with it."""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterable
from functools import lru_cache
from pathlib import Path
from typing import TypeVar, cast

from pydantic import BaseModel, JsonValue, ValidationError

from tidegate.suite.folders import stays_in
from tidegate.suite.yaml.document import Document, Problem
from tidegate.suite.yaml.explain import explain
from tidegate.suite.yaml.reader import MOST_REPEATED, REPEATED, read_document

M = TypeVar("M", bound=BaseModel)


class Files:
    """Reads files below `root`."""

    def __init__(self, root: Path) -> None:
        self.root = root

    def read(self, place: str, model: type[M], kind: str) -> tuple[Document, M | None, list[Problem]]:
        """Read and validate the file at a path relative to the root."""
        document = self.document(place)
        return document, *self.validated(document, model, kind)

    def document(self, place: str) -> Document:
        """Read the file at a path relative to the root. A link that leads out of the root is a problem."""
        if not stays_in(self.root, place):
            return Document(place, None, (Problem.of_file(place, "leads out of the repository"),))
        return read_document(self.root / place, place)

    def validated(self, document: Document, model: type[M], kind: str) -> tuple[M | None, list[Problem]]:
        """Return the file as its model if it fits, and its problems.

        Validation is as strict as for JSON: for example, text is not accepted as a number.
        """
        problems = list(document.problems)
        if document.root is None:
            return None, problems
        if not isinstance(document.root.children, dict):
            return None, [*problems, document.problem((), "must be a mapping (`key: value` lines)")]
        data = with_models_split(document.data) if kind == "suite" else document.data
        fitted = _fitted(model, data)
        if not isinstance(fitted, ValidationError):
            return fitted, problems
        broken = {(problem.line, problem.column) for problem in problems}
        found = explain(fitted, document, kind)
        return None, problems + [problem for problem in found if (problem.line, problem.column) not in broken]

    def partly(self, document: Document, model: type[M], found: Iterable[Problem], needed: Collection[str]) -> M | None:
        """Return the model without the keys that have problems, so that the remaining keys can be checked too.

        Returns None if one of those keys is `needed`, since leaving it out would cause misleading problems.
        """
        broken = {re.split(r"[.\[]", problem.key)[0] for problem in found}
        data = document.data
        if not isinstance(data, dict) or not broken.isdisjoint(needed):
            return None
        fitted = _fitted(model, {key: value for key, value in data.items() if key not in broken})
        return None if isinstance(fitted, ValidationError) else fitted


def _fitted(model: type[M], data: JsonValue) -> M | ValidationError:
    text = json.dumps(data)
    try:
        return cast("M", _valid_once(model, text)) if len(text) <= MOST_REPEATED else _valid(model, text)
    except ValidationError as error:
        return error


def _valid(model: type[M], text: str) -> M:
    return model.model_validate_json(text, strict=True)


_valid_once = lru_cache(REPEATED)(_valid)


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
