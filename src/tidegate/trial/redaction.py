"""No key of an agent in the record, whatever the agent prints."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TypeVar

from tidegate.model.value import Value
from tidegate.trial.safe_files import open_regular

SHORTEST = 8  # characters; a shorter value is no secret, and would be found everywhere
M = TypeVar("M", bound=Value)


class Redaction:
    """Puts `[NAME]` in the place of each secret's value; a variable that holds an address is no secret."""

    def __init__(self, credentials: Mapping[str, str]) -> None:
        self._secrets = {
            value: f"[{name}]"
            for name, value in credentials.items()
            if len(value) >= SHORTEST and not name.endswith("_URL")
        }

    def text(self, text: str) -> str:
        """The text without the secrets."""
        for value, name in self._secrets.items():
            text = text.replace(value, name)
        return text

    def of(self, value: M) -> M:
        """The value without the secrets."""
        whole = value.model_dump_json()
        clean = self.text(whole)
        return value if clean == whole else type(value).model_validate_json(clean)

    def clean(self, path: Path) -> None:
        """Take the secrets out of a file."""
        file = open_regular(path) if self._secrets else None
        if file is None:
            return
        with file:
            whole = clean = file.read()
        for value, name in self._secrets.items():
            clean = clean.replace(value.encode(), name.encode())
        if clean != whole:
            path.write_bytes(clean)
