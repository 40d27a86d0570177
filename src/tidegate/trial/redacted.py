"""Removes secrets from values and files of a trial's record."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any, TypeVar

from tidegate.model.value import Value
from tidegate.text.redaction import Redaction
from tidegate.trial.safe_files import open_regular

M = TypeVar("M", bound=Value)


def redacted(value: M, redaction: Redaction) -> M:
    """Return the value without the secrets."""
    if not redaction:
        return value
    whole = value.model_dump_json()
    if redaction.text(whole) == whole:
        return value
    return type(value).model_validate_json(json.dumps(_cleaned(json.loads(whole), redaction)))


def _cleaned(data: Any, redaction: Redaction) -> Any:
    """Return JSON data without the secrets in its texts."""
    if isinstance(data, str):
        return redaction.text(data)
    if isinstance(data, list):
        return [_cleaned(one, redaction) for one in data]
    if isinstance(data, dict):
        return {redaction.text(name): _cleaned(one, redaction) for name, one in data.items()}
    return data


def redact_file(path: Path, redaction: Redaction) -> None:
    """Replace the secrets in a file."""
    file = open_regular(path) if redaction else None
    if file is None:
        return
    with file:
        whole = file.read()
    clean = redaction.data(whole)
    if clean != whole:
        path.write_bytes(clean)


def redact_folder(folder: Path, redaction: Redaction) -> None:
    """Replace the secrets in all files below a folder. Links are not followed."""
    for place, _, names in os.walk(folder) if redaction else ():
        for name in names:
            redact_file(Path(place, name), redaction)
