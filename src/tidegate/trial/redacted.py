"""Removes secrets from values and files of a trial's record."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TypeVar

from tidegate.model.value import Value
from tidegate.text.redaction import Redaction
from tidegate.trial.safe_files import open_regular

M = TypeVar("M", bound=Value)


def redacted(value: M, redaction: Redaction) -> M:
    """Return the value without the secrets."""
    if not redaction:
        return value
    whole = value.model_dump_json()
    clean = redaction.text(whole)
    return value if clean == whole else type(value).model_validate_json(clean)


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
