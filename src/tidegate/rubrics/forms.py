"""The forms of answers, as JSON Schema: what a model with structured output is held to, and others are told."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

_TEXT = {"type": "string"}
_TEXTS = {"type": "array", "items": _TEXT}
_SHARE = {"type": "number", "description": "from 0 to 1"}


def scores_form(ids: Sequence[str]) -> dict[str, Any]:
    """Of a rubric; the reason stands before the score, so that it is thought of first."""
    entry = _object(id={"enum": list(ids)}, reason=_TEXT, score=_SHARE)
    return _object(scores=_list(entry), confidence=_SHARE, issues=_TEXTS, highlights=_TEXTS)


def checks_form(ids: Sequence[str]) -> dict[str, Any]:
    """Of inline rubrics."""
    entry = _object(id={"enum": list(ids)}, reasoning=_TEXT, satisfied={"type": "boolean"})
    return _object(checks=_list(entry), overall_reasoning=_TEXT)


def score_form() -> dict[str, Any]:
    """Of a single score."""
    return _object(reasoning=_TEXT, hits=_TEXTS, misses=_TEXTS, score=_SHARE)


def pair_form(ids: Sequence[str]) -> dict[str, Any]:
    """Of a pair."""
    return _object(
        better=_list(_object(id={"enum": list(ids)}, reason=_TEXT, choice={"enum": ["first", "second", "same"]}))
    )


def draft_form() -> dict[str, Any]:
    """Of rubrics that are drafted."""
    entry = _object(id=_TEXT, description=_TEXT, weight={"type": "number"}, required={"type": "boolean"})
    return _object(rubrics=_list(entry))


def _object(**properties: Any) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }


def _list(entry: dict[str, Any]) -> dict[str, Any]:
    return {"type": "array", "items": entry}
