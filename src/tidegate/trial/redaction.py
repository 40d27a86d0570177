"""Keeps agents' API keys out of the record, even if the agent prints them."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TypeVar

from tidegate.model.value import Value
from tidegate.trial.safe_files import open_regular

SHORTEST = 8  # characters; a shorter value is not a secret, and would match ordinary text
M = TypeVar("M", bound=Value)


class Redaction:
    """Replaces each secret's value with `[NAME]`. Variables that hold a URL are not secret."""

    def __init__(self, credentials: Mapping[str, str]) -> None:
        self._secrets = {
            value: f"[{name}]"
            for name, value in credentials.items()
            if len(value) >= SHORTEST and not name.endswith("_URL")
        }

    def text(self, text: str) -> str:
        """Return the text without the secrets."""
        for value, name in self._secrets.items():
            text = text.replace(value, name)
        return text

    def of(self, value: M) -> M:
        """Return the value without the secrets."""
        whole = value.model_dump_json()
        clean = self.text(whole)
        return value if clean == whole else type(value).model_validate_json(clean)

    def clean(self, path: Path) -> None:
        """Replace the secrets in a file."""
        file = open_regular(path) if self._secrets else None
        if file is None:
            return
        with file:
            whole = clean = file.read()
        for value, name in self._secrets.items():
            clean = clean.replace(value.encode(), name.encode())
        if clean != whole:
            path.write_bytes(clean)
