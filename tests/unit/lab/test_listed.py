"""Which mutants there are."""

from __future__ import annotations

from tidegate.lab import mutants
from tidegate.lab.mutants import changed_guidance, of_guidance, of_program, of_server, of_values
from tidegate.model.proof import KINDS
from tidegate.model.surface import ObservedCall, Part

PARTS = (
    Part(kind="subcommand", name="add"),
    Part(kind="subcommand", name="undo"),
    Part(kind="option", name="--due", command="add", takes_value=True),
)
CALLS = (ObservedCall(argv=("add", "T"), exit_code=0, stdout='{"id": 1}\n', written=("t",)),)
GUIDE = "# Tasks\n\nUse `--due`.\n\n## Add\n\n```sh\n# a comment\n$ t add --due 1 T\n```\n\n## Why\n\nOrder.\n"


def test_tables_of_words_name_known_kinds() -> None:
    tables = (mutants.OF_OUTPUT, mutants.OF_INPUT, mutants.OF_KEY, mutants.OF_ARGUMENTS, mutants.OF_JSON)
    assert {kind for table in (*tables, mutants.OF_EFFECT) for kind in table} <= set(KINDS)


def test_mutants_of_parts_and_of_what_calls_show() -> None:
    found = {one.words for one in of_program(PARTS, CALLS, "t")}
    assert {
        "`--due` is ignored by `add`",
        "`undo` is gone",
        "`add`: key `id` is renamed",
        "`add` reports success and changes nothing",
        "`add` never ends",
        "`undo` exits with 1",
    } <= found
    assert not any("undo` never" in words or "no longer lists" in words for words in found)


def test_one_of_the_calls_with_equal_results_fails() -> None:
    calls = [ObservedCall(argv=(word,), exit_code=0, stdout=f"{len(word)}\n") for word in ("a", "b", "cc")]
    assert [one.words for one in of_program((), calls, "t") if one.kind == "input_fails"] == [
        "`t a` exits with 1",
        "`t cc` exits with 1",
    ]


def test_mutants_of_values_are_of_listed_choices_or_of_values_in_calls() -> None:
    style = Part(kind="option", name="--style", takes_value=True, choices=("wide", "slim"), default="wide")
    depth = Part(kind="option", name="--depth", takes_value=True, default="3")
    loud, pair = Part(kind="option", name="--loud"), Part(kind="option", name="--color", aliases=("--no-color",))
    calls = (ObservedCall(argv=("--depth=7", "x"), exit_code=0),)
    found = [one.words for one in of_values((style, depth, loud, pair), calls, "t")]
    assert found == [
        "`--style wide` is refused by `t`",
        "`--style slim` is refused by `t`",
        "the default of `--style` of `t` is slim, not wide",
        "`--depth 7` is refused by `t`",
        "the default of `--depth` of `t` is 4, not 3",
        "`--loud` is on by default in `t`",
    ]


def test_a_command_is_missing_from_an_example() -> None:
    (dropped,) = (one for one in of_guidance({"A.md": GUIDE}, "t", read=False) if one.kind == "example_dropped")
    assert dropped.words == "A.md: the example “t add --due 1 T” is gone"
    assert changed_guidance(dropped, GUIDE) == GUIDE.replace("$ t add --due 1 T\n", "")


def test_a_tool_without_subcommands_is_named_by_its_program() -> None:
    calls = (ObservedCall(argv=("x",), exit_code=1, stderr="no\n"),)
    found = {one.words for one in of_program((), calls, "t")}
    assert {"`t` exits with 0 where it fails", "`t` fails without a message"} <= found


def test_results_are_changed_only_of_tools_that_are_called() -> None:
    parts = (Part(kind="tool", name="sum"), Part(kind="tool", name="undo"))
    calls = (ObservedCall(argv=("sum", "{}"), exit_code=0),)
    found = {(one.kind, one.command) for one in of_server(parts, calls, read=False)}
    assert {("result_reshaped", "sum"), ("tool_removed", "undo"), ("result_emptied", "undo")} <= found
    assert ("result_reshaped", "undo") not in found
    assert not any(kind == "description_emptied" for kind, _ in found)


def test_only_an_agent_with_a_model_reads_sections_without_examples() -> None:
    words = [one.name for one in of_guidance({"A.md": GUIDE}, read=False)]
    assert words == ["Add", "--due"]
    assert [one.name for one in of_guidance({"A.md": GUIDE}, read=True)] == ["Tasks", "Add", "Why", "--due"]


def test_code_blocks_of_other_programs_are_left_out_where_no_agent_reads_them() -> None:
    guide = "# Install\n\n```sh\nbrew --prefix x\n```\n\n# Use\n\n```sh\ncat a | t --due 1\n```\n"
    assert [one.name for one in of_guidance({"A.md": guide}, "t", read=False)] == ["Use", "--due"]
    assert "--prefix" in [one.name for one in of_guidance({"A.md": guide}, "t", read=True)]


def test_a_subcommand_is_misspelt_where_the_guidance_calls_it() -> None:
    (one,) = [one for one in of_guidance({"A.md": GUIDE}, "t", ("add", "undo"), read=False) if one.name == "t add"]
    assert (one.kind, one.words) == ("subcommand_misspelt", "A.md: `t add` is misspelt")
    assert changed_guidance(one, GUIDE) == GUIDE.replace("t add", "t ad")


def test_a_change_of_output_that_changes_no_recorded_call_is_no_mutant() -> None:
    """It would be called not reached, although a scenario calls the subcommand."""
    calls = (ObservedCall(argv=("add", "T"), exit_code=0, stdout="added\n"),)
    found = {one.kind for one in of_program(PARTS, calls, "t") if one.command == "add"}
    assert {"output_emptied", "warning_printed"} <= found
    assert not {"number_changed", "lines_reversed", "line_dropped", "error_emptied"} & found


def test_a_section_is_dropped_up_to_the_next_heading() -> None:
    add, due = of_guidance({"A.md": GUIDE}, read=False)
    assert changed_guidance(add, GUIDE) == "# Tasks\n\nUse `--due`.\n\n## Why\n\nOrder.\n"
    assert changed_guidance(due, GUIDE) == GUIDE.replace("--due", "--de")


def test_a_tool_whose_calls_only_fail_has_results_that_nothing_shows() -> None:
    refused = ObservedCall(argv=("--wrong",), exit_code=2, stdout="", stderr="no such option\n")
    assert "`t` prints nothing" in {one.words for one in of_program((), [refused], "t")}
