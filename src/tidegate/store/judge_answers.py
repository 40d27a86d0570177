"""The judge's answers, each kept as soon as it is there, so that none is paid for twice."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path

from pydantic import ValidationError

from tidegate.model.question import Reply
from tidegate.store.run_folder import write_value


class AnswerStore:
    """A folder with one file for each answer, named by the hash of its question; None keeps nothing."""

    def __init__(self, folder: Path | None) -> None:
        self._folder = folder

    def read(self, key: str) -> Reply | None:
        """The answer, as it was given; None if it is not there or cannot be read."""
        if self._folder is None:
            return None
        try:
            return Reply.model_validate_json(self._place(self._folder, key).read_bytes())
        except (OSError, ValidationError):
            return None

    def keep(self, key: str, reply: Reply) -> None:
        """Write it, whole or not at all; a folder that cannot be written costs money later, not this run."""
        if self._folder is not None:
            with suppress(OSError):
                write_value(self._place(self._folder, key), reply)

    @staticmethod
    def _place(folder: Path, key: str) -> Path:
        return folder / key[:2] / f"{key}.json"
