"""Untrusted regular expressions and paths: the same results as `re`, within the time limit."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from tests.make import typed
from tidegate.agents.invocations.metrics import subcommand
from tidegate.checks.evaluators.assess import advance
from tidegate.checks.evaluators.parameters import Parameters
from tidegate.checks.evaluators.tool_trajectory import ToolTrajectory
from tidegate.checks.gates.json_path import check_path, find
from tidegate.checks.gates.text_gates import matches
from tidegate.model.evaluator import EvaluatorRecord, Score
from tidegate.model.event import ToolCall
from tidegate.text import patterns
from tidegate.text.patterns import PatternTooSlowError, check_pattern, search

SLOW = r"^(([a-z])+.)+[A-Z]([a-z])+$"
LONG = "a" * 5000


@pytest.mark.parametrize("pattern", ["(", "[", "*", "a{2,1}", "(?P<n>", r"\8", "(?P<n>a)(?P<n>b)"])
def test_what_re_refuses_is_refused(pattern: str) -> None:
    with pytest.raises(ValueError, match=r"^is not a regular expression: "):
        check_pattern(pattern)


@given(st.text("aeis.*+?|()[^]$\\dw{1,}", max_size=10).filter(lambda text: _is_one(text)), st.text("aei1{} \n"))
@example("ae{e}", "ae")
@example("a{i<=1}", "aei")
@example(r"\N{DIGIT ONE}{,2}", "a11")
def test_an_answer_is_that_of_re(pattern: str, text: str) -> None:
    found, expected = search(pattern, text), re.search(pattern, text)
    assert (found and found.span()) == (expected and expected.span())


@pytest.mark.parametrize(
    ("pattern", "text", "found"),
    [(r"^\p{L}+$", "Straße", True), (r"\p{Lu}", "abc", False), (r"\\p{L", "\\p{L", True), (r"\P{N}", "1", False)],
)
def test_classes_of_unicode_are_those_that_rust_has(pattern: str, text: str, found: bool) -> None:
    assert (search(check_pattern(pattern), text) is not None) == found


def _is_one(text: str) -> bool:
    try:
        re.compile(text)
    except (re.error, FutureWarning):
        return False
    return True


def _gate() -> None:
    decision = matches("the file", LONG, SLOW)
    assert not decision.passed
    assert "is not decided for the file: the search was given up after 0.1 s" in decision.message


def _call() -> None:
    assert subcommand("tool", ["add", LONG], SLOW) == "add"


def _evaluator(evaluator: ToolTrajectory | Parameters) -> None:
    record = EvaluatorRecord(binary="", prompt="", events=(ToolCall(id="1", tool="say", input={"text": LONG}),))
    score = typed(Score, advance(evaluator, record, ()))
    assert (score.value, score.missing) == (None, "evaluator")
    assert score.reason == "a pattern is not decided: the search was given up after 0.1 s"


def _trajectory() -> None:
    expected = [{"tool": "say", "input": {"text": {"regex": SLOW}}}]
    _evaluator(ToolTrajectory.model_validate({"mode": "in_order", "expected": expected}))


def _schema() -> None:
    schema = {"properties": {"text": {"pattern": SLOW}}}
    _evaluator(Parameters.model_validate({"schemas": {"say": schema}}))


def _filter() -> None:
    with pytest.raises(ValueError, match="given up"):
        find(f'$.items[?(@.text =~ "{SLOW}")]', {"items": [{"text": LONG}]})


def _search() -> None:
    with pytest.raises(PatternTooSlowError):
        search(SLOW, LONG)


@pytest.mark.parametrize("hostile", [_search, _gate, _call, _trajectory, _schema, _filter])
def test_a_hostile_one_ends_and_is_told_as_undecided(
    hostile: Callable[[], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without a limit, it would take ages."""
    monkeypatch.setattr(patterns, "MOST_SECONDS", 0.1)
    hostile()


def test_patterns_in_paths_are_checked_beforehand() -> None:
    with pytest.raises(ValueError, match="is not a JSONPath: is not a regular expression"):
        check_path('$.items[?(@.text =~ "(")]')


def test_patterns_in_paths_and_schemas_still_find_what_they_should() -> None:
    items = [{"text": "one"}, {"text": "two"}]
    assert find('$.items[?(@.text =~ "^t")].text', {"items": items}) == ["two"]
    schema = {"properties": {"text": {"pattern": "^t"}}, "patternProperties": {"^n_": {"type": "integer"}}}
    record = EvaluatorRecord(
        binary="",
        prompt="",
        events=tuple(
            ToolCall(id=str(number), tool="say", input=given)
            for number, given in enumerate(({"text": "two"}, {"text": "one"}, {"n_1": 1}, {"n_1": "x"}))
        ),
    )
    score = typed(Score, advance(Parameters.model_validate({"schemas": {"say": schema}}), record, ()))
    assert score.details == {"parameter_schema_valid": 0.5}
