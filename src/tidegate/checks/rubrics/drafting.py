"""Rubrics that a model drafts from what a case expects."""

from __future__ import annotations

import re
from typing import Any

from tidegate.checks.rubrics.prompts import question
from tidegate.checks.rubrics.reading import draft_form, mapping_of
from tidegate.model.judge import AskModel
from tidegate.model.value import Value
from tidegate.text.shorten import excerpt

FEWEST, MOST = 3, 7
_ID = re.compile(r"[a-z0-9]+(?:-[a-z0-9]+)*\Z")


class Drafted(Value):
    """One drafted check, as it is written into a case."""

    id: str
    description: str
    weight: float
    required: bool


def draft_question(task: str, expected: str, reference: str) -> AskModel:
    """Return the question for three to seven checks, with a single sample."""
    ask = question("draft", draft_form(), task=task, expected=expected, reference=reference)
    return ask.model_copy(update={"samples": (1,)})


def read_draft(text: str) -> tuple[Drafted, ...]:
    """Return the checks in the answer. Raises ValueError with the reason if it has none."""
    found = mapping_of(text).get("rubrics")
    if not isinstance(found, list) or not FEWEST <= len(found) <= MOST:
        raise ValueError(f"it has no list of {FEWEST} to {MOST} `rubrics`")
    drafted = tuple(_one(entry) for entry in found)
    if len({one.id for one in drafted}) < len(drafted):
        raise ValueError("two of its rubrics have one id")
    return drafted


def _one(entry: Any) -> Drafted:
    if not isinstance(entry, dict):
        raise ValueError("one of its rubrics is not an object")
    name, words, weight, required = (entry.get(key) for key in ("id", "description", "weight", "required"))
    if not isinstance(name, str) or not _ID.match(name):
        raise ValueError(f"an id is not of lower-case words joined by hyphens: {excerpt(str(name), 60)}")
    if not isinstance(words, str) or not excerpt(words):
        raise ValueError(f"`{name}` has no description")
    if isinstance(weight, bool) or not isinstance(weight, int | float) or not 0 < weight <= 100:
        raise ValueError(f"the weight of `{name}` is not between 0 and 100")
    if not isinstance(required, bool):
        raise ValueError(f"`required` of `{name}` is neither true nor false")
    return Drafted(id=name, description=excerpt(words, 500), weight=float(weight), required=required)
