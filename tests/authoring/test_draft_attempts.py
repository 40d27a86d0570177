"""Calls that a draft tries for a part that no scenario uses."""

from __future__ import annotations

from tidegate.authoring.draft_attempts import Attempt, Recorded, Sources, attempts, call_in, value
from tidegate.model.mutant import Mutant
from tidegate.model.surface import Part

CLOSE = Part(kind="subcommand", name="close")
DUE = Part(kind="option", name="--due", command="add", takes_value=True)


def of(part: Part, **known: object) -> list[Attempt]:
    """Return the attempts for the part."""
    name, command = (part.name, part.command) if part.kind == "option" else ("", part.name)
    kind = "option_ignored" if part.kind == "option" else "exit_fails"
    mutant = Mutant(kind=kind, words="", name=name, command=command, takes_value=part.takes_value)
    return [*attempts(mutant, part, Sources("t", **{"parts": (part,), **known}))]  # type: ignore[arg-type]


def test_an_option_is_added_to_a_recorded_call_with_a_value_that_fits_its_name() -> None:
    first = of(DUE, recorded=[Recorded(("t init",), "t add tide")])[0]
    assert first == Attempt(("t init",), "t add --due 2030-01-31 tide", "t add tide", 0)


def test_an_option_is_added_to_a_call_that_reads_a_pipe() -> None:
    line = "echo 'a | t add | b' | t add tide > out"
    (first,) = of(DUE, recorded=[Recorded((), line)])
    assert first.line == "echo 'a | t add | b' | t add --due 2030-01-31 tide > out"
    assert call_in("cat t", "t") is None


def test_an_example_of_the_docs_comes_first() -> None:
    lines = ("t init", "t add --due tomorrow x", "t list")
    assert of(DUE, documented=[lines])[0] == Attempt(("t init",), "t add --due tomorrow x", "t add x")


def test_choices_and_known_defaults_give_values() -> None:
    style = DUE.model_copy(update={"choices": ("wide", "slim"), "default": "wide"})
    depth = DUE.model_copy(update={"name": "--depth", "default": "3"})
    recorded = [Recorded((), "t add")]
    assert [one.line for one in of(style, recorded=recorded)] == ["t add --due slim"]
    assert [one.line for one in of(depth, recorded=recorded)] == ["t add --depth 1", "t add --depth 4"]


def test_an_option_gets_the_value_of_an_example_in_the_help_and_no_value_that_nobody_would_give() -> None:
    glyph = DUE.model_copy(update={"name": "--glyph"})
    recorded, told = [Recorded((), "t add")], {("add", "--glyph"): 'what to draw with, e.g. "#1"'}
    assert of(glyph, recorded=recorded) == []
    told = {("add", "--glyph"): 'the look, e.g. "star"'}
    assert [one.line for one in of(glyph, recorded=recorded, told=told)] == ["t add --glyph star"]


def test_an_option_that_says_what_its_input_is_like_is_not_tried() -> None:
    tabs = DUE.model_copy(update={"name": "--tabs", "takes_value": False})
    told = {("add", "--tabs"): "Specify that the input file is delimited with tabs."}
    assert of(tabs, recorded=[Recorded((), "t add")], told=told) == []


def test_a_subcommand_that_needs_an_id_gets_one_from_the_call_that_makes_it() -> None:
    parts = (CLOSE, Part(kind="argument", name="id", command="close"))
    (made,) = of(CLOSE, parts=parts, maker="t new x")
    assert made == Attempt(("id=$(t new x)",), 't close "$id"')
    assert [one.line for one in of(CLOSE, parts=parts)] == ["t close 1"]


def test_a_subcommand_is_tried_after_calls_that_change_what_it_works_on() -> None:
    parts = (CLOSE, Part(kind="argument", name="id", command="close"))
    *_, after = of(CLOSE, parts=parts, maker="t new x", effects=['t start "$id"'])
    assert after.before == ("id=$(t new x)", 't start "$id"')


def test_a_subcommand_that_needs_a_file_gets_the_one_of_the_workspace() -> None:
    parts = (CLOSE, Part(kind="argument", name="FILE", command="close"))
    assert of(CLOSE, parts=parts) == []
    assert [one.line for one in of(CLOSE, parts=parts, file="data.csv")] == ["t close data.csv"]
    usage = {("usage", "close"): "usage: t close [-h]\n   [FILE]"}
    assert of(CLOSE, file="data.csv", told=usage)[0].line == "t close data.csv"


def test_values_fit_the_names_of_arguments() -> None:
    assert value("title") == "'Write the changelog'"
    assert value("state", "state <id> <state>  Sets the state (open|done)") == "done"
