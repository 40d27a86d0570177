"""What each kind of mutant changes in a call, and which mutants do the same."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tidegate.lab.mutants import done_to, meets
from tidegate.model.proof import Mutant
from tidegate.model.surface import ObservedCall
from tidegate.trial import mutation as change

NAMES = ("add", "list")
DUE = {"name": "--due", "aliases": ("-d",), "takes_value": True, "command": "add"}
HELP = """\
usage: t add [-h] [--due DATE] TITLE

options:
  -h, --help  show this help message and exit
  -d, --due DATE
              the last day
  --quiet     print less
"""


def mutant(kind: str, **fields: Any) -> Mutant:
    return Mutant(**{"kind": kind, "words": "w", "commands": NAMES, **fields})


def changed(one: Mutant, argv: list[str], result: change.Result = (0, "", "")) -> tuple[list[str], change.Result]:
    data = one.model_dump(mode="json")
    given, instead = change.before(data, argv)
    return given, change.after(data, argv, instead or result)


@pytest.mark.parametrize(
    "argv", [["add", "--due", "1", "T"], ["add", "--due=1", "T"], ["add", "-d", "1", "T"], ["add", "-d1", "T"]]
)
def test_an_option_is_ignored_or_refused_in_every_spelling(argv: list[str]) -> None:
    given, result = changed(mutant("option_ignored", **DUE), argv)
    assert (given, result) == (["add", "T"], (0, "", ""))
    assert changed(mutant("option_removed", **DUE), argv)[1][0] == change.USAGE_ERROR


def test_a_switch_is_ignored_without_the_word_after_it() -> None:
    quiet = mutant("option_ignored", name="--quiet", command="add")
    assert changed(quiet, ["add", "--quiet", "T"])[0] == ["add", "T"]


def test_options_of_other_subcommands_and_after_two_dashes_stay() -> None:
    for argv in (["list", "--due", "1"], ["add", "--", "--due"], ["add", "T"]):
        assert changed(mutant("option_removed", **DUE), argv) == (argv, (0, "", ""))


def test_a_renamed_option_has_its_new_name_in_calls_and_help() -> None:
    renamed = mutant("option_renamed", **DUE)
    assert changed(renamed, ["add", "--new-due", "1", "T"])[0] == ["add", "--due", "1", "T"]
    assert changed(renamed, ["add", "--due", "1", "T"])[1][0] == change.USAGE_ERROR
    assert "--new-due DATE" in changed(renamed, ["add", "--help"], (0, HELP, ""))[1][1]


def test_the_help_loses_the_entry_of_the_option_and_nothing_else() -> None:
    (_, text, _) = changed(mutant("help_dropped", **DUE), ["add", "--help"], (0, HELP, ""))[1]
    assert text == HELP.replace(" [--due DATE]", "").replace("  -d, --due DATE\n              the last day\n", "")


FORMAT = {"name": "--format", "aliases": ("-f",), "takes_value": True, "command": "list", "default": "text"}


@pytest.mark.parametrize("argv", [["list", "--format", "json"], ["list", "--format=json"], ["list", "-fjson"]])
def test_a_value_is_refused_in_every_spelling_and_others_are_not(argv: list[str]) -> None:
    refused = mutant("value_refused", **FORMAT, value="json")
    assert changed(refused, argv)[1][0] == change.USAGE_ERROR
    for other in (["list", "--format", "text"], ["list"], ["add", "--format", "json"], ["list", "-f"]):
        assert changed(refused, other) == (other, (0, "", ""))


def test_another_default_holds_where_the_option_is_not_given() -> None:
    other = mutant("default_changed", **FORMAT, value="json")
    assert changed(other, ["list", "x"])[0] == ["list", "--format", "json", "x"]
    assert changed(other, ["list", "-f", "text"])[0] == ["list", "-f", "text"]
    switch = mutant("default_changed", name="--quiet", command="add")
    assert changed(switch, ["add", "T"])[0] == ["add", "--quiet", "T"]


def test_the_entry_of_an_option_is_found_behind_the_value_of_its_short_name() -> None:
    text = "options:\n  -d DATE, --due DATE\n                        the last day\n  --quiet               print less\n"
    (_, shown, _) = changed(mutant("help_dropped", **DUE), ["add", "--help"], (0, text, ""))[1]
    assert shown == "options:\n  --quiet               print less\n"


def test_an_option_that_has_to_be_given_is_not_refused_where_it_is() -> None:
    required = mutant("option_required", **DUE)
    assert changed(required, ["add", "T"])[1] == (2, "", "error: the following arguments are required: --due\n")
    assert changed(required, ["add", "-d1", "T"]) == (["add", "-d1", "T"], (0, "", ""))


def test_a_short_name_is_refused_and_the_long_one_stays() -> None:
    gone = mutant("alias_removed", name="-d", takes_value=True, command="add")
    assert changed(gone, ["add", "-d", "1", "T"])[1][0] == change.USAGE_ERROR
    assert changed(gone, ["add", "--due", "1", "T"]) == (["add", "--due", "1", "T"], (0, "", ""))


def test_an_argument_is_refused_and_options_and_their_values_are_not() -> None:
    refused = mutant("argument_refused", command="add")
    assert changed(refused, ["add", "x", "T"])[1] == (2, "", "error: unrecognized arguments: T\n")
    for fine in (["add", "--due", "1"], ["add"], ["list", "T"]):
        assert changed(refused, fine) == (fine, (0, "", "")), fine


def test_options_after_an_argument_are_refused_if_they_have_to_come_first() -> None:
    first = mutant("options_first", command="add")
    assert changed(first, ["add", "T", "--due=1"])[1] == (2, "", "error: unrecognized arguments: --due=1\n")
    for fine in (
        ["add", "--due", "1", "T"],
        ["add", "--due", "1", "-q"],
        ["add", "T", "--", "-x"],
        ["list", "T", "-x"],
    ):
        assert changed(first, fine) == (fine, (0, "", "")), fine


def test_a_renamed_subcommand_works_under_its_new_name_alone() -> None:
    renamed = mutant("subcommand_renamed", name="add")
    assert changed(renamed, ["add-item", "T"])[0] == ["add", "T"]
    assert changed(renamed, ["add", "T"])[1] == (2, "", "error: unknown command 'add'\n")
    assert changed(renamed, ["list"]) == (["list"], (0, "", ""))


@pytest.mark.parametrize(
    ("kind", "before", "after"),
    [
        ("exit_fails", (0, "a", ""), (1, "a", "")),
        ("exit_succeeds", (3, "a", "e"), (0, "a", "e")),
        ("error_emptied", (2, "", "no such id\n"), (2, "", "")),
        ("error_emptied", (0, "", "a note\n"), (0, "", "a note\n")),
        ("line_dropped", (0, "a\nb\n", ""), (0, "a\n", "")),
        ("line_dropped", (0, "a\n", ""), (0, "a\n", "")),
        ("lines_reversed", (0, "a\nb\n", ""), (0, "b\na\n", "")),
        ("number_changed", (0, "v1.2: task 9 of 9\n", ""), (0, "v1.2: task 10 of 9\n", "")),
        ("number_changed", (0, "\x1b[1m#\x1b[1;33m9 x\n", ""), (0, "\x1b[1m#\x1b[1;33m10 x\n", "")),
        ("warning_printed", (0, "a\n", ""), (0, f"{change.WARNING}a\n", "")),
        ("warning_printed", (0, "", ""), (0, "", "")),
        ("json_wrapped", (0, "[1]\n", ""), (0, '{"data": [1]}\n', "")),
        ("output_emptied", (0, "abcd", ""), (0, "", "")),
        ("word_replaced", (0, "1 done: Tag\n", ""), (0, "1 Now: Tag\n", "")),
        ("word_replaced", (0, '{"done": 1}\n', ""), (0, '{"done": 1}\n', "")),
        ("word_replaced", (0, "[ ]\ndone\n", ""), (0, "[ ]\ndone\n", "")),
        ("json_list_cut", (0, '{"a": [1, [2, 3]]}\n', ""), (0, '{"a": [1]}\n', "")),
        ("json_list_cut", (0, '{ "a": [1] }\n', ""), (0, '{ "a": [1] }\n', "")),
        ("middle_changed", (0, "a 1.5 b\nc 2 d\ne 3\n", ""), (0, "a 1.5 b\nc 3 d\ne 3\n", "")),
    ],
)
def test_changed_results(kind: str, before: change.Result, after: change.Result) -> None:
    assert changed(mutant(kind, command="list"), ["list"], before)[1] == after
    assert changed(mutant(kind, command="add"), ["list"], before)[1] == before


@pytest.mark.parametrize("indent", [None, 2])
def test_json_keeps_its_style_when_a_key_changes(indent: int | None) -> None:
    def text(value: object) -> str:
        return json.dumps(value, indent=indent) + "\n"

    before = text([{"id": 1, "tags": ["x"]}])
    wanted = {
        "json_key_renamed": text([{"id_": 1, "tags": ["x"]}]),
        "json_key_dropped": text([{"tags": ["x"]}]),
        "json_key_retyped": text([{"id": "1", "tags": ["x"]}]),
        "json_value_wrong": text([{"id": 2, "tags": ["x"]}]),
    }
    for kind, after in wanted.items():
        assert changed(mutant(kind, command="list", name="id"), ["list"], (0, before, ""))[1][1] == after


def test_a_call_meets_a_mutant_that_would_change_it() -> None:
    calls = {
        "writes": ObservedCall(argv=("add", "T"), exit_code=0, stdout="added\n", written=("t.json",)),
        "reads": ObservedCall(argv=("list",), exit_code=0, stdout="[ ] 1 T\n"),
        "help": ObservedCall(argv=("add", "--help"), exit_code=0, stdout=HELP),
        "fails": ObservedCall(argv=("add",), exit_code=2, stderr="TITLE?\n"),
    }
    wanted = {
        mutant("effect_lost", command="add"): {"writes"},
        mutant("prompts", command="list"): set[str](),
        mutant("option_removed", **DUE): {"help"},
        mutant("option_ignored", **DUE): set[str](),
        mutant("exit_fails", command="add"): {"writes"},
        mutant("error_emptied", command="add"): {"fails"},
        mutant("line_dropped", command="list"): set[str](),
        mutant("hangs", command="add"): {"writes", "fails"},
    }
    for one, met in wanted.items():
        assert {name for name, call in calls.items() if meets(one, call)} == met, one.kind


def test_a_mutant_of_one_input_leaves_the_others_alone() -> None:
    crash = mutant("input_crashes", command="list", value=change.JOIN.join(["list", "a b"]))
    assert changed(crash, ["list", "a b"], (0, "x", ""))[1][0] == 1
    assert changed(crash, ["list", "a"], (0, "x", ""))[1] == (0, "x", "")


# --- which mutants do the same to recorded calls

ADD = ObservedCall(argv=("add", "--due", "1", "T"), exit_code=0, stdout="added T\n")
NEW = ObservedCall(argv=("add", "--new-due", "1", "T"), exit_code=2, stderr="unknown\n")


def test_an_option_that_is_gone_is_like_a_renamed_one_for_calls_of_its_old_name_only() -> None:
    gone, renamed = mutant("option_removed", **DUE), mutant("option_renamed", **DUE)
    assert done_to(gone, [ADD]) == done_to(renamed, [ADD]) is not None
    assert done_to(gone, [ADD, NEW]) != done_to(renamed, [ADD, NEW])


def test_what_a_call_printed_before_it_was_changed_counts() -> None:
    """Otherwise two mutants would be alike for each call that the first one emptied."""
    emptied, cut = mutant("output_emptied", command="add"), mutant("line_dropped", command="add")
    seen = ObservedCall(argv=("add", "T"), exit_code=0, stdout="", was=(0, "a\nb\n", ""))
    assert done_to(emptied, [seen]) != done_to(cut, [seen])


def test_effects_and_values_are_not_seen_in_calls() -> None:
    kinds = ("effect_lost", "crashes_after", "hangs", "option_ignored")
    assert [done_to(mutant(kind, **DUE), [ADD]) for kind in kinds] == [None] * len(kinds)


@pytest.mark.parametrize("kind", ["json_key_renamed", "json_key_dropped", "json_key_retyped"])
def test_a_call_that_prints_nothing_has_no_keys_to_change(kind: str) -> None:
    assert change.json_changed({"kind": kind, "name": "id"}, (0, " \n", "x")) == (0, " \n", "x")
