"""The gate `file_contains`."""

from __future__ import annotations

from typing import Literal

from tidegate.checks.gates.fields import NonEmpty
from tidegate.checks.gates.file_gate import FileGate
from tidegate.checks.gates.text_checks import contains
from tidegate.model.gate import Decision
from tidegate.text.shorten import excerpt


class FileContains(FileGate):
    """Passes when the file at `path` contains `substring`."""

    quick = True

    type: Literal["file_contains"] = "file_contains"
    substring: NonEmpty

    @property
    def subject(self) -> str:
        """The path and the substring."""
        return excerpt(f'{self.path} must contain "{self.substring}"')

    def decide_text(self, text: str) -> Decision:
        """Search for the substring."""
        return contains(f"`{self.path}`", text, self.substring)
