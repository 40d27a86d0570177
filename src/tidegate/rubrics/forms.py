"""JSON Schemas of the judge's answers, enforced by structured output or, for other judges, part of the prompt."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

_TEXT = {"type": "string"}
_TEXTS = {"type": "array", "items": _TEXT}
_SHARE = {"type": "number", "description": "from 0 to 1"}


def scores_form(ids: Sequence[str]) -> dict[str, Any]:
    """Return the form for a rubric. The reason comes before the score, so that the model thinks first."""
    entry = _object(id=_one_of(ids), reason=_TEXT, score=_SHARE)
    return _object(scores=_list(entry), confidence=_SHARE, issues=_TEXTS, highlights=_TEXTS)


def checks_form(ids: Sequence[str]) -> dict[str, Any]:
    """Return the form for inline rubrics."""
    entry = _object(id=_one_of(ids), reasoning=_TEXT, satisfied={"type": "boolean"})
    return _object(checks=_list(entry), overall_reasoning=_TEXT)


def score_form() -> dict[str, Any]:
    """Return the form for a single score."""
    return _object(reasoning=_TEXT, hits=_TEXTS, misses=_TEXTS, score=_SHARE)


def pair_form(ids: Sequence[str]) -> dict[str, Any]:
    """Return the form for a comparison of two trials."""
    return _object(better=_list(_object(id=_one_of(ids), reason=_TEXT, choice=_one_of(("first", "second", "same")))))


def draft_form() -> dict[str, Any]:
    """Return the form for drafted rubrics."""
    entry = _object(id=_TEXT, description=_TEXT, weight={"type": "number"}, required={"type": "boolean"})
    return _object(rubrics=_list(entry))


def _one_of(names: Sequence[str]) -> dict[str, Any]:
    return {"type": "string", "enum": list(names)}


def _object(**properties: Any) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }


def _list(entry: dict[str, Any]) -> dict[str, Any]:
    return {"type": "array", "items": entry}
