"""Variations of calls: other numbers, arguments of other calls, another order."""

from __future__ import annotations

from tidegate.authoring.option_calls import with_both, with_option
from tidegate.authoring.variations import variations
from tidegate.model.surface import Part


def of(*lines: str) -> list[str]:
    return [line for line, _ in variations(lines, "tally", ("add", "list"))]


def test_numbers_get_more_digits_and_become_0_but_not_those_of_file_names() -> None:
    found = of("tally add 2 x1.csv --size=3")
    assert {"tally add 11 x1.csv --size=3", "tally add 0 x1.csv --size=3", "tally add 2 x1.csv --size=12"} <= {*found}
    assert not [line for line in found if "x10" in line]


def test_a_call_gets_the_arguments_of_other_calls_of_its_subcommand() -> None:
    found = of("tally add milk", "tally add 'two words' | wc", "tally list all")
    assert {"tally add 'two words'", "tally add milk | wc"} <= {*found}
    assert "tally add all" not in found


def test_two_arguments_become_equal_and_nearly_equal_and_change_places() -> None:
    assert {"tally 1.2 1.2", "tally 1.2 1.11", "tally 2.0 1.2"} <= {*of("tally 1.2 2.0")}


def test_the_last_argument_is_left_out_and_written_in_capitals() -> None:
    assert {"tally list one", "tally list one ALL"} <= {*of("tally list one all")}


def test_a_line_with_two_calls_is_not_varied() -> None:
    assert of("tally add 1 && tally list 2") == []


def test_every_line_gets_its_first_variation_before_one_gets_its_second() -> None:
    first, second, *_ = variations(["tally add 1", "tally list 2"], "tally", ("add", "list"))
    assert (first[1], second[1]) == ("add", "list")


def test_a_call_asks_for_the_days_that_other_subcommands_give() -> None:
    found = of("tally add '2018-03-20 12:00' milk", "tally list --from 2014-04-16 --to 2014-04-30")
    assert "tally list --from 2018-03-20 --to 2018-03-21" in found


def test_a_number_among_the_choices_of_an_option_is_given_as_one() -> None:
    option = Part(name="--wrap", kind="option", takes_value=True, choices=("keep", "no", "INTEGER"))
    ways = [one.ways for one in with_option("tally a.md", "tally", option, ())]
    assert ways == [("tally --wrap keep a.md",), ("tally --wrap no a.md",), ("tally --wrap 20 a.md",)]


def test_an_option_is_given_twice_with_two_values() -> None:
    option = Part(name="-x", kind="option", takes_value=True)
    assert with_both("tally -x 'a b' in.txt", "tally -x c in.txt", option) == "tally -x 'a b' -x c in.txt"
    assert with_both("tally -x a in.txt", "", option) == ""


def test_an_option_for_rules_gets_those_that_the_tool_reports() -> None:
    option = Part(name="--ignore", kind="option", takes_value=True)
    printed = "a.rst:3: D001 Line too long\na.rst:4: D001 Line too long\na.rst:9: D005 No newline\n"
    ways = [one.ways for one in with_option("tally a.rst", "tally", option, (), printed)]
    given = ("D001", "D001,D005", "D0", "D")
    assert ways == [(f"tally --ignore {one} a.rst",) for one in given]
