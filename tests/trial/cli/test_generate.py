"""Rubrics drafted into an eval file."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from tests.warm import run_tidegate as tidegate
from tidegate.authoring.draft_rubrics import Drafted, read_draft, with_rubrics
from tidegate.text.shorten import excerpt

Make = Callable[..., Any]
LOADER: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


def load(text: str) -> Any:
    return yaml.load(text, Loader=LOADER)


EVALS = """\
# Our questions.
dataset: research
evalcases:
  # The moon comes first.
  - id: tides   # easy
    expected_outcome: |
      Names the moon.
      # not a comment, but part of the text

    # what is asked
    input_messages: [{role: user, content: What makes tides?}]
  - input_messages: [{role: user, content: And storms?}]
    id: storms
    expected_outcome: Names the wind.   # at the end
  - id: none
    input_messages: [{role: user, content: Hello}]
    evaluators: [{type: tool_f1, expected: [a]}]
  - id: done
    expected_outcome: Says hello.
    input_messages: [{role: user, content: Hello}]
    rubrics: [Says hello.]
"""
DRAFT = [
    {"id": "names-it", "description": 'It names "it": plainly.', "weight": 2, "required": True},
    {"id": "is-short", "description": "It is short.", "weight": 1, "required": False},
    {"id": "no-more", "description": "It says no more.", "weight": 0.5, "required": False},
]
SUITE = """\
version: 1
scenarios: [evals/*.yaml]
judge: {type: scripted, script: [{when: 'SECRET', answers: ["no"]}, {answers: [DRAFT]}]}
"""


def repository(make_repository: Make, when: str = "zzz") -> Path:
    repo = make_repository()
    suite = SUITE.replace("SECRET", when).replace("DRAFT", json.dumps({"rubrics": DRAFT}))
    repo.commit({"tidegate.yaml": suite, "evals/research.yaml": EVALS})
    root: Path = repo.root
    return root


def test_cases_with_an_expectation_and_no_rubrics_get_some_and_all_else_stays(make_repository: Make) -> None:
    root = repository(make_repository)
    done = tidegate("generate", "rubrics", "evals/research.yaml", cwd=root)
    assert done.returncode == 0, done.stderr
    assert "2 of 4 cases have new rubrics" in done.stdout
    text = (root / "evals/research.yaml").read_text()
    assert [line for line in text.splitlines() if line in EVALS.splitlines()] == EVALS.splitlines()
    cases = load(text)["evalcases"]
    assert [len(case.get("rubrics", [])) for case in cases] == [3, 3, 0, 1]
    assert cases[0]["rubrics"][0] == DRAFT[0]
    assert cases[0]["expected_outcome"] == load(EVALS)["evalcases"][0]["expected_outcome"]

    assert tidegate("check", cwd=root).returncode == 0
    again = tidegate("generate", "rubrics", "evals/research.yaml", cwd=root)
    assert "0 of 4 cases" in again.stdout
    assert (root / "evals/research.yaml").read_text() == text


def test_a_case_that_the_judge_cannot_draft_for_is_left_as_it_is(make_repository: Make) -> None:
    root = repository(make_repository, when="storms")
    done = tidegate("generate", "rubrics", "evals/research.yaml", cwd=root)
    assert done.returncode == 0, done.stderr
    assert "research/storms: none: the answer cannot be read: it is not JSON: no" in done.stdout
    cases = load((root / "evals/research.yaml").read_text())["evalcases"]
    assert [len(case.get("rubrics", [])) for case in cases] == [3, 0, 0, 1]


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["evals/gone.yaml"], "is not an eval file of the suite"),
        (["tidegate.yaml"], "is not an eval file of the suite"),
    ],
)
def test_what_cannot_be_done_is_said(make_repository: Make, arguments: list[str], said: str) -> None:
    done = tidegate("generate", "rubrics", *arguments, cwd=repository(make_repository))
    assert done.returncode == 2
    assert said in done.stderr


def test_without_an_answer_nothing_is_written(make_repository: Make) -> None:
    root = repository(make_repository, when="good answer from a bad")
    done = tidegate("generate", "rubrics", "evals/research.yaml", cwd=root)
    assert done.returncode == 4
    assert "the judge drafted nothing" in done.stderr
    assert (root / "evals/research.yaml").read_text() == EVALS


def test_a_case_in_braces_gets_its_rubrics_in_braces() -> None:
    found = read_draft(json.dumps({"rubrics": DRAFT}))
    text = with_rubrics("evalcases: [{id: a, outcome: x, input_messages: []}]\n", {0: found})
    (case,) = load(text)["evalcases"]
    assert list(case) == ["id", "outcome", "rubrics", "input_messages"]
    assert case["rubrics"] == DRAFT


def test_a_comment_stays_above_the_key_that_it_describes() -> None:
    found = read_draft(json.dumps({"rubrics": DRAFT}))
    lines = with_rubrics(EVALS, {0: found}).splitlines()
    where = lines.index("    # what is asked")
    assert lines[where + 1].lstrip().startswith("input_messages:")
    assert lines[where - 1].lstrip().startswith("required:")


@pytest.mark.parametrize(
    "change",
    [
        {"id": "Not an id"},
        {"description": " "},
        {"weight": 0},
        {"weight": True},
        {"required": "yes"},
        {"id": "is-short"},
    ],
)
def test_a_draft_out_of_form_is_refused(change: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match=r"\w"):
        read_draft(json.dumps({"rubrics": [DRAFT[0] | change, *DRAFT[1:]]}))


@given(st.text(min_size=1).filter(str.strip) | st.sampled_from(["on", "1e3", "~"]), st.sampled_from(["", "  "]))
def test_any_words_come_back_from_the_file(words: str, indent: str) -> None:
    words = excerpt(words) or "-"  # as every answer of a model is read
    text = f"evalcases:\n{indent}- id: a\n{indent}  outcome: x\n{indent}  input_messages: []\n"
    (_, *_) = found = (Drafted(id="a", description=words, weight=1, required=True),)
    try:
        new = with_rubrics(text, {0: found})
    except ValueError:
        return  # a character that no YAML holds: nothing is written
    assert load(new)["evalcases"][0]["rubrics"][0]["description"] == words
