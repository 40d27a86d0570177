"""Stores each answer of the judge as soon as it arrives, so that no answer is paid for twice."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path

from tidegate.history.run_folder import read_value, write_value
from tidegate.model.judge import Reply


class AnswerStore:
    """A folder with one JSON file per answer, named by the hash of its question. With None, nothing is stored."""

    def __init__(self, folder: Path | None) -> None:
        self._folder = folder

    def read(self, key: str) -> Reply | None:
        """Return the stored answer, or None if there is none or it cannot be read."""
        return read_value(self._place(self._folder, key), Reply) if self._folder else None

    def keep(self, key: str, reply: Reply) -> None:
        """Write the answer atomically. A write error is ignored: a later run then asks the question again."""
        if self._folder is not None:
            with suppress(OSError):
                write_value(self._place(self._folder, key), reply)

    @staticmethod
    def _place(folder: Path, key: str) -> Path:
        return folder / key[:2] / f"{key}.json"
