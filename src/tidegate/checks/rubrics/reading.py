"""Parse a judge's answer into scores. An unreadable answer raises ValueError: it is never a 0 and never a pass."""

from __future__ import annotations

import json
from collections.abc import Collection, Sequence
from typing import Any, NamedTuple

from tidegate.checks.gates.assertion import parse_json
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
    notes: tuple[str, ...] = ()


def read_scores(text: str, ids: Collection[str], required: Collection[str] = ()) -> Scores:
    """Parse the answer to a rubric: each criterion exactly once, with a score from 0 to 1, and the `required` fields.

    `weighted_score` is ignored, because Tidegate computes it.
    """
    answer = mapping_of(text)
    for field in required:
        if field not in (*answer, "weighted_score"):
            raise ValueError(f"it has no `{field}`, which the rubric requires")
    scores: dict[str, float] = {}
    reasons: dict[str, str] = {}
    for name, value in _entries(answer, "scores", SCORES):
        if name not in ids:
            raise ValueError(f"`{excerpt(name, 60)}` is not a criterion of the rubric")
        if name in scores:
            raise ValueError(f"the criterion `{name}` is there twice")
        score, reason = (value.get("score"), value.get("reason")) if isinstance(value, dict) else (value, None)
        scores[name] = _score(score, f"of `{name}` ")
        reasons[name] = _text(reason)
    if missing := [name for name in ids if name not in scores]:
        raise ValueError(f"the criterion `{missing[0]}` is missing")
    given = answer.get("reasons")
    for name, reason in (given if isinstance(given, dict) else {}).items():
        if name in reasons:
            reasons[name] = reasons[name] or _text(reason)
    confidence = answer.get("confidence")
    return Scores(
        scores,
        reasons,
        confidence=None if confidence is None else _score(confidence, "`confidence` "),
        issues=_texts(answer.get("issues")),
        highlights=_texts(answer.get("highlights")),
    )


def read_checks(text: str, ids: Sequence[str]) -> Scores:
    """Parse the answer to inline rubrics. The result notes every irregularity.

    An omitted check is unmet, a repeated one counts once, an unknown one is ignored. Raises ValueError if the answer
    has none of the checks.
    """
    answer = mapping_of(text)
    checks = answer.get("checks")
    if not isinstance(checks, list):
        raise ValueError(f"it has no list of `checks`; expected {CHECKS}")
    scores: dict[str, float] = {}
    reasons: dict[str, str] = {}
    notes: list[str] = []
    for check in checks:
        name = check.get("id") if isinstance(check, dict) else None
        if not isinstance(name, str) or name not in ids:
            notes.append(f"the unknown check `{excerpt(str(name), 60)}` was ignored")
        elif name in scores:
            notes.append(f"the check `{name}` came twice and counts once")
        elif not isinstance(met := check.get("satisfied"), bool):
            raise ValueError(f"`satisfied` of `{name}` is neither true nor false")
        else:
            scores[name] = float(met)
            reasons[name] = _text(check.get("reasoning"))
    if not scores:
        raise ValueError("it has none of the checks")
    for name in ids:
        if name not in scores:
            scores[name], reasons[name] = 0.0, "the judge left it out"
            notes.append(f"the check `{name}` was left out and counts as unmet")
    overall = _text(answer.get("overall_reasoning"))
    return Scores(scores, reasons, highlights=(overall,) if overall else (), notes=tuple(dict.fromkeys(notes)))


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
        parse_json(body)
    except ValueError:
        raise ValueError(f"it is not JSON: {excerpt(text, 80)}") from None
    answer = json.loads(body, object_pairs_hook=_unique)  # finds repeated keys
    if not isinstance(answer, dict):
        raise ValueError("it is not a JSON object")
    return answer


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        names = [name for name, _ in pairs]
        raise ValueError(f"`{excerpt(next(name for name in names if names.count(name) > 1), 60)}` is there twice")
    return found


def _entries(answer: dict[str, Any], name: str, expected: str) -> list[tuple[str, Any]]:
    """Return the entries by id, from a list `[{id, …}]` or a mapping."""
    value = answer.get(name)
    if isinstance(value, dict):
        return list(value.items())
    if not isinstance(value, list):
        raise ValueError(f"it has no `{name}` of criteria; expected {expected}")
    return [(str(entry.get("id")), entry) for entry in value if isinstance(entry, dict)]


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
