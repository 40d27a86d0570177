"""Finds the files that a trial began with and has changed by the time that a check runs."""

from __future__ import annotations

from pathlib import Path

from tidegate.trial.safe_files import content_of
from tidegate.trial.workspace import OF_GIT, Prepared, contents


class WatchedFiles:
    """The files and links that checks find at the start: those of base's workspace, and what the setup makes.

    A file that only head's workspace has is not there while checks run, and must not be.
    """

    def __init__(self, prepared: Prepared, of_base: Prepared | None, workspace: Path) -> None:
        of_head, self._workspace = prepared.contents, workspace
        self._start = {**dict.fromkeys((*OF_GIT, *of_head)), **(of_base or prepared).contents}
        self._guidance = {name: has for name, has in self._start.items() if has != of_head.get(name)}
        self.rewritten = set[str]()

    def begin(self) -> None:
        """Add what a setup command has made. Guidance files of which the sides have different ones stay as on base."""
        self.look()
        self.rewritten -= self._guidance.keys()
        self._start = {**dict.fromkeys(self._start), **contents(self._workspace), **self._guidance}

    def look(self) -> None:
        """Note which of the files differ now."""
        for name, has in self._start.items():
            if content_of(self._workspace / name, {has.size} if has else ()) != has:
                self.rewritten.add(name)
