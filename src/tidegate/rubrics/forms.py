"""JSON Schemas of the judge's answers, enforced by structured output or, for other judges, part of the prompt."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

_TEXT = {"type": "string"}
_TEXTS = {"type": "array", "items": _TEXT}
_SHARE = {"type": "number", "description": "from 0 to 1"}


def scores_form(ids: Sequence[str]) -> dict[str, Any]:
    """Return the form for a rubric. The reason comes before the score, so that the model thinks first."""
    entry = object_of(id=one_of(ids), reason=_TEXT, score=_SHARE)
    return object_of(scores=list_of(entry), confidence=_SHARE, issues=_TEXTS, highlights=_TEXTS)


def checks_form(ids: Sequence[str]) -> dict[str, Any]:
    """Return the form for inline rubrics."""
    entry = object_of(id=one_of(ids), reasoning=_TEXT, satisfied={"type": "boolean"})
    return object_of(checks=list_of(entry), overall_reasoning=_TEXT)


def score_form() -> dict[str, Any]:
    """Return the form for a single score."""
    return object_of(reasoning=_TEXT, hits=_TEXTS, misses=_TEXTS, score=_SHARE)


def draft_form() -> dict[str, Any]:
    """Return the form for drafted rubrics."""
    entry = object_of(id=_TEXT, description=_TEXT, weight={"type": "number"}, required={"type": "boolean"})
    return object_of(rubrics=list_of(entry))


def one_of(names: Sequence[str]) -> dict[str, Any]:
    """Return the form of a name out of several."""
    return {"type": "string", "enum": list(names)}


def object_of(**properties: Any) -> dict[str, Any]:
    """Return the form of an object that has all of the properties and no others."""
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }


def list_of(entry: dict[str, Any]) -> dict[str, Any]:
    """Return the form of a list of entries."""
    return {"type": "array", "items": entry}
