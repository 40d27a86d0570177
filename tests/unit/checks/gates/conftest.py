"""What gates see: real commands that were really run, and files."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from typing import Any

import pytest

from tidegate.model.command import CommandResult
from tidegate.model.gate import Seen
from tidegate.model.probe import CommandAnswer, FileAnswer


def _sees(**result: Any) -> Seen:
    ended = {"end": "exited", "exit_code": 0} if "end" not in result else {}
    return Seen(answer=CommandAnswer(result=CommandResult.model_validate({"command": "tool", **ended, **result})))


def _shell(command: str) -> Seen:
    done = subprocess.run(["sh", "-c", command], capture_output=True, text=True, check=False)
    if done.returncode < 0:
        return _sees(end="signal", signal=-done.returncode, stdout=done.stdout, stderr=done.stderr)
    return _sees(exit_code=done.returncode, stdout=done.stdout, stderr=done.stderr)


def _file(**answer: Any) -> Seen:
    return Seen(answer=FileAnswer.model_validate({"state": "present", **answer}))


@pytest.fixture(scope="session")
def sees() -> Callable[..., Seen]:
    """A command's result by its fields; without `end` it has exited with status 0."""
    return _sees


@pytest.fixture(scope="session")
def shell() -> Callable[[str], Seen]:
    """What came of a command line, run by a real shell."""
    return _shell


@pytest.fixture(scope="session")
def file() -> Callable[..., Seen]:
    """What stands at a path, by the fields of the answer."""
    return _file
