"""What gates see: results of commands, and files."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from tidegate.model.event import CommandResult
from tidegate.model.gate import GateInput
from tidegate.model.probe import CommandAnswer, FileAnswer


def _sees(**result: Any) -> GateInput:
    ended = {"end": "exited", "exit_code": 0} if "end" not in result else {}
    return GateInput(answer=CommandAnswer(result=CommandResult.model_validate({"command": "tool", **ended, **result})))


def _file(**answer: Any) -> GateInput:
    return GateInput(answer=FileAnswer.model_validate({"state": "present", **answer}))


@pytest.fixture(scope="session")
def sees() -> Callable[..., GateInput]:
    """A command's result by its fields; without `end` it has exited with status 0."""
    return _sees


@pytest.fixture(scope="session")
def file() -> Callable[..., GateInput]:
    """What stands at a path, by the fields of the answer."""
    return _file
