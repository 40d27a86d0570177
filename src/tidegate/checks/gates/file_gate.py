"""Gates that check one file: their base class, and `file_exists`."""

from __future__ import annotations

from typing import Literal

from tidegate.checks.gates.fields import WorkspacePath
from tidegate.model.gate import Gate, GateDecision, GateInput
from tidegate.model.probe import FileAnswer, ReadFile

_NO_TEXT = {
    "present": "could not be read",
    "missing": "does not exist",
    "escapes": "leads out of the workspace through a link",
    "not_a_file": "is not a file",
    "too_large": "is too large to be read",
    "unreadable": "could not be read",
}


class FileGate(Gate):
    """A gate that checks one file of the workspace."""

    path: WorkspacePath

    @property
    def subject(self) -> str:
        """The path."""
        return self.path

    def request(self) -> ReadFile:
        """Read the file."""
        return ReadFile(path=self.path)

    def decide(self, seen: GateInput) -> GateDecision:
        """Fail if the file has no readable text, else decide on the text."""
        if not isinstance(seen.answer, FileAnswer):
            return GateDecision(passed=False, message="the file was not looked for")
        if seen.answer.text is None:
            return self.decide_without_text(seen.answer)
        return self.decide_text(seen.answer.text, f"`{self.path}`")

    def decide_without_text(self, answer: FileAnswer) -> GateDecision:
        """Fail with the reason why there is not text."""
        return GateDecision(passed=False, message=f"`{self.path}` {_NO_TEXT[answer.state]}")

    def decide_text(self, text: str, what: str) -> GateDecision:
        """Decide on the file's text; messages call it `what`."""
        raise NotImplementedError


class FileExists(FileGate):
    """Passes when a file exists at `path` in the workspace. A folder does not count."""

    quick = True

    type: Literal["file_exists"] = "file_exists"

    def decide_without_text(self, answer: FileAnswer) -> GateDecision:
        """Pass if the file exists, even though it is too large or not text."""
        if answer.state in ("present", "too_large"):
            return self.decide_text("", f"`{self.path}`")
        return super().decide_without_text(answer)

    def decide_text(self, text: str, what: str) -> GateDecision:
        """Pass for any content."""
        return GateDecision(passed=True, message=f"{what} exists")
