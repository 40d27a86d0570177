"""What gates see: results of commands, and files."""

from __future__ import annotations

from typing import Any

from tidegate.model.event import CommandResult
from tidegate.model.gate import GateInput
from tidegate.model.probe import CommandAnswer, FileAnswer


def sees(**result: Any) -> GateInput:
    """A command's result by its fields; without `end` it has exited with status 0."""
    ended = {"end": "exited", "exit_code": 0} if "end" not in result else {}
    return GateInput(answer=CommandAnswer(result=CommandResult.model_validate({"command": "tool", **ended, **result})))


def file(**answer: Any) -> GateInput:
    """What stands at a path, by the fields of the answer."""
    return GateInput(answer=FileAnswer.model_validate({"state": "present", **answer}))
