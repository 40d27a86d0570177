"""The gate `file_matches`."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from pydantic import ValidationError

from tidegate.checks.gates.text_gates import FileMatches
from tidegate.model.gate import GateDecision, GateInput

GATE = FileMatches(path="notes.md", pattern=r"(?m)^- \[x\]")


def test_passes_when_the_pattern_is_found(file: Callable[..., GateInput]) -> None:
    decision = GATE.decide(file(text="# todo\n- [x] milk\n"))
    assert decision == GateDecision(passed=True, message=r"`notes.md` matches `(?m)^- \[x\]`: `- [x]`")


def test_fails_with_an_excerpt_when_it_is_not(file: Callable[..., GateInput]) -> None:
    decision = GATE.decide(file(text="- [ ] milk"))
    assert decision == GateDecision(passed=False, message=r"`notes.md` does not match `(?m)^- \[x\]`: `- [ ] milk`")


@pytest.mark.parametrize("state", ["missing", "escapes", "not_a_file", "too_large", "unreadable"])
def test_fails_without_a_text(file: Callable[..., GateInput], state: str) -> None:
    assert not GATE.decide(file(state=state)).passed


def test_a_bad_pattern_is_refused_with_the_place() -> None:
    with pytest.raises(ValidationError, match=r"missing \), unterminated subpattern at position 2"):
        FileMatches(path="x", pattern="ab(c")


def test_two_gates_on_one_file_have_two_names() -> None:
    assert GATE.label == r"file_matches: notes.md must match (?m)^- \[x\]"
