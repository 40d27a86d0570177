"""The gate `file_exists`."""

from __future__ import annotations

from typing import Literal

from tidegate.checks.gates.file_gate import FileGate
from tidegate.model.gate import Decision
from tidegate.model.probe import FileAnswer


class FileExists(FileGate):
    """Passes when a file exists at `path` in the workspace. A folder does not count."""

    quick = True

    type: Literal["file_exists"] = "file_exists"

    def decide_without_text(self, answer: FileAnswer) -> Decision:
        """Pass if the file exists, even though it is too large or not text."""
        if answer.state in ("present", "too_large"):
            return self.decide_text("")
        return super().decide_without_text(answer)

    def decide_text(self, text: str) -> Decision:
        """Pass for any content."""
        return Decision(passed=True, message=f"`{self.path}` exists")
