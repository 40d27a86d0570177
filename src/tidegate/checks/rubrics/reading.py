"""Parse a judge's answer into scores. An unreadable answer raises ValueError: it is never a 0 and never a pass."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any, NamedTuple

from tidegate.checks.gates.assertion import parse_json
from tidegate.text.json_keys import DoubledKeyError
from tidegate.text.shorten import excerpt

_TEXT = {"type": "string"}
_TEXTS = {"type": "array", "items": _TEXT}
_SHARE = {"type": "number", "description": "from 0 to 1"}

MAX_REASON = 500
SCORES = '{"scores": [{"id": "…", "reason": "…", "score": 0.9}, …]}'
CHECKS = '{"checks": [{"id": "…", "reasoning": "…", "satisfied": true}, …]}'
SCORE = '{"reasoning": "…", "hits": ["…"], "misses": ["…"], "score": 0.9}'


class Scores(NamedTuple):
    """One answer: a score and a reason for each criterion."""

    scores: dict[str, float]
    reasons: dict[str, str] = {}
    confidence: float | None = None
    issues: tuple[str, ...] = ()
    highlights: tuple[str, ...] = ()


def read_scores(text: str, ids: Collection[str], required: Collection[str] = ()) -> Scores:
    """Parse the answer to a rubric: each criterion exactly once, with a score from 0 to 1, and the `required` fields.

    `weighted_score` is ignored, because Tidegate computes it.
    """
    answer = mapping_of(text)
    for field in required:
        if field not in (*answer, "weighted_score"):
            raise ValueError(f"it has no `{field}`, which the rubric requires")
    if isinstance(short := answer.get("scores"), dict):  # `{"scores": {ID: SCORE}, "reasons": {ID: REASON}}`
        why = answer["reasons"] if isinstance(answer.get("reasons"), dict) else {}
        answer["scores"] = [{"id": name, "score": score, "reason": why.get(name)} for name, score in short.items()]
    entries = entries_of(answer, "scores", SCORES, ids)
    confidence = answer.get("confidence")
    return Scores(
        {name: _score(entry.get("score"), f"of `{name}` ") for name, entry in entries.items()},
        {name: _text(entry.get("reason")) for name, entry in entries.items()},
        confidence=None if confidence is None else _score(confidence, "`confidence` "),
        issues=_texts(answer.get("issues")),
        highlights=_texts(answer.get("highlights")),
    )


def read_checks(text: str, ids: Collection[str]) -> Scores:
    """Parse the answer to inline rubrics: each check exactly once, and whether it is satisfied."""
    answer = mapping_of(text)
    checks = entries_of(answer, "checks", CHECKS, ids)
    for name, check in checks.items():
        if not isinstance(check.get("satisfied"), bool):
            raise ValueError(f"`satisfied` of `{name}` is neither true nor false")
    scores = {name: float(check["satisfied"]) for name, check in checks.items()}
    reasons = {name: _text(check.get("reasoning")) for name, check in checks.items()}
    overall = _text(answer.get("overall_reasoning"))
    return Scores(scores, reasons, highlights=(overall,) if overall else ())


def entries_of(answer: dict[str, Any], key: str, expected: str, ids: Collection[str]) -> dict[str, dict[str, Any]]:
    """Return the entries `[{id, …}]` by id. Raises ValueError unless there is one for each of the ids, and no other."""
    value = answer.get(key)
    if not isinstance(value, list) or not all(isinstance(entry, dict) for entry in value):
        raise ValueError(f"it has no list of `{key}`; expected {expected}")
    names = [str(entry.get("id")) for entry in value]
    for name in names:
        if name not in ids:
            raise ValueError(f"`{excerpt(name, 60)}` is not a criterion of the rubric")
        if names.count(name) > 1:
            raise ValueError(f"the criterion `{name}` is there twice")
    if missing := [name for name in ids if name not in names]:
        raise ValueError(f"the criterion `{missing[0]}` is missing")
    return dict(zip(names, value, strict=True))


def read_score(text: str, name: str = "score") -> Scores:
    """Parse a single score, in the form of AgentV's judges: `{score, hits, misses, reasoning}`."""
    answer = mapping_of(text)
    if "score" not in answer:
        raise ValueError(f"it has no `score`; expected {SCORE}")
    score = _score(answer["score"], "")
    misses, hits = _texts(answer.get("misses")), _texts(answer.get("hits"))
    reason = _text(answer.get("reasoning")) or "; ".join(misses)
    return Scores({name: score}, {name: reason}, issues=misses, highlights=hits)


def mapping_of(text: str) -> dict[str, Any]:
    """Return the JSON object in the answer, with or without a Markdown fence.

    Raises ValueError if there is none or a key occurs twice.
    """
    body = text.strip()
    if body.startswith("```") and body.endswith("```"):
        body = body.removesuffix("```").partition("\n")[2]
    try:
        answer = parse_json(body)
    except DoubledKeyError:
        raise
    except ValueError:
        raise ValueError(f"it is not JSON: {excerpt(text, 80)}") from None
    if not isinstance(answer, dict):
        raise ValueError("it is not a JSON object")
    return answer


def _score(value: Any, which: str) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise ValueError(f"the score {which}is not a number: {excerpt(repr(value), 60)}")
    if not 0 <= value <= 1:
        raise ValueError(f"the score {which}is not between 0 and 1: {value}")
    return float(value)


def _text(value: Any) -> str:
    return excerpt(value, MAX_REASON) if isinstance(value, str) else ""


def _texts(value: Any) -> tuple[str, ...]:
    return tuple(excerpt(text) for text in value if isinstance(text, str))[:20] if isinstance(value, list) else ()


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
