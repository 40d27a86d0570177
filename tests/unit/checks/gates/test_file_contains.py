"""The gate `file_contains`."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from pydantic import ValidationError

from tidegate.checks.gates.text_gates import FileContains
from tidegate.model.gate import GateDecision, GateInput

GATE = FileContains(path="notes.md", substring="milk")


def test_passes_when_the_file_contains_it(file: Callable[..., GateInput]) -> None:
    assert GATE.decide(file(text="buy\nmilk\n")) == GateDecision(passed=True, message="`notes.md` contains `milk`")


def test_fails_with_an_excerpt_when_it_does_not(file: Callable[..., GateInput]) -> None:
    message = "`notes.md` does not contain `milk`: `buy bread`"
    assert GATE.decide(file(text="buy\nbread\n")) == GateDecision(passed=False, message=message)


@pytest.mark.parametrize("state", ["missing", "escapes", "not_a_file", "too_large", "unreadable"])
def test_fails_without_a_text(file: Callable[..., GateInput], state: str) -> None:
    assert not GATE.decide(file(state=state)).passed


def test_wrong_parameters_are_refused() -> None:
    with pytest.raises(ValidationError, match="leaves the workspace"):
        FileContains(path="../x", substring="a")
    with pytest.raises(ValidationError, match="must not be empty"):
        FileContains(path="x", substring="")


def test_two_gates_on_one_file_have_two_names() -> None:
    assert GATE.label == 'file_contains: notes.md must contain "milk"'
