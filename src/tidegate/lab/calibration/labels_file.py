"""Reads and writes labels: one JSON object per line, appended one at a time."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from tidegate.errors import ConfigurationError
from tidegate.model.calibration import Label

_WORDS = {"met": "met", "pass": "met", "yes": "met", "unmet": "unmet", "fail": "unmet", "no": "unmet"}
HALF = 0.5


def read_labels(path: Path) -> list[Label]:
    """Return all labels in a file. Raises ConfigurationError that names the first invalid line."""
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigurationError(
            f"{path} cannot be read: {error}.", "`tidegate label RUN` writes such a file."
        ) from None
    return [_label(path, number, line) for number, line in enumerate(lines, 1) if line.strip()]


def add_label(path: Path, label: Label) -> None:
    """Append one label and write it to disk at once."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("a", encoding="utf-8") as file:
        file.write(label.model_dump_json(exclude_defaults=True) + "\n")


def _label(path: Path, number: int, line: str) -> Label:
    advice = 'A line is {"trial": "head/SCENARIO/AGENT/1", "criterion": ID, "verdict": "met" or "unmet"}.'
    try:
        data = json.loads(line)
        if isinstance(data, dict) and "verdict" in data:
            data["verdict"] = _mark(data["verdict"])
        return Label.model_validate(data)
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        what = f"{'.'.join(map(str, first['loc']))}: {first['msg']}"
    except ValueError as error:
        what = f"it is not JSON: {error}"
    raise ConfigurationError(f"{path}:{number}: {what}", advice) from None


def _mark(verdict: Any) -> Any:
    """Convert common words, booleans and scores from 0 to 1 to "met" or "unmet"; return anything else unchanged."""
    if isinstance(verdict, bool):
        return "met" if verdict else "unmet"
    if isinstance(verdict, int | float) and 0 <= verdict <= 1:
        return "met" if verdict >= HALF else "unmet"
    return _WORDS.get(verdict, verdict) if isinstance(verdict, str) else verdict
