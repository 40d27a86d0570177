"""Calls that a draft tries for a part that no scenario uses."""

from __future__ import annotations

from tidegate.authoring.draft_attempts import Attempt, Sources, attempts, value
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
    first = of(DUE, recorded=[(("t init",), ("add", "tide"))])[0]
    assert first == Attempt(("t init",), "t add --due 2030-01-31 tide", "t add tide")


def test_an_example_of_the_docs_comes_first() -> None:
    lines = ("t init", "t add --due tomorrow x", "t list")
    assert of(DUE, documented=[lines])[0] == Attempt(("t init",), "t add --due tomorrow x", "t add x")


def test_choices_and_known_defaults_give_values() -> None:
    style = DUE.model_copy(update={"choices": ("wide", "slim"), "default": "wide"})
    depth = DUE.model_copy(update={"name": "--depth", "default": "3"})
    assert [one.line for one in of(style, recorded=[((), ("add",))])] == ["t add --due slim"]
    assert [one.line for one in of(depth, recorded=[((), ("add",))])] == ["t add --depth 4"]


def test_a_subcommand_that_needs_an_id_gets_one_from_the_call_that_makes_it() -> None:
    parts = (CLOSE, Part(kind="argument", name="id", command="close"))
    (made,) = of(CLOSE, parts=parts, maker="t new x")
    assert made == Attempt((), 't close "$(t new x)"', "t new x")
    assert [one.line for one in of(CLOSE, parts=parts)] == ["t close 1"]


def test_a_subcommand_that_needs_a_file_is_not_tried() -> None:
    assert of(CLOSE, parts=(CLOSE, Part(kind="argument", name="FILE", command="close"))) == []
    assert value("dep-id") == "1"
    assert value("title") == "'Write the changelog'"
