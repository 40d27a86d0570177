"""The gate `file_matches`."""

from __future__ import annotations

from typing import Literal

from tidegate.checks.gates.fields import Regex
from tidegate.checks.gates.file_gate import FileGate
from tidegate.checks.gates.text_checks import matches
from tidegate.model.gate import Decision
from tidegate.text.shorten import excerpt


class FileMatches(FileGate):
    """Passes when the file at `path` matches the regular expression `pattern`.

    The syntax is that of Python's `re`. The pattern may match anywhere in the file, as in `re.search`.
    """

    type: Literal["file_matches"] = "file_matches"
    pattern: Regex

    @property
    def subject(self) -> str:
        """The path and the pattern."""
        return excerpt(f"{self.path} must match {self.pattern}")

    def decide_text(self, text: str) -> Decision:
        """Search the text."""
        return matches(f"`{self.path}`", text, self.pattern)
