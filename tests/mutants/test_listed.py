"""Which mutants there are."""

from __future__ import annotations

from typing import get_args

from tidegate.model.mutant import MutantKind
from tidegate.model.surface import ObservedCall, Part
from tidegate.mutants.listed import KINDS, changed_guidance, of_guidance, of_program, of_server

PARTS = (
    Part(kind="subcommand", name="add"),
    Part(kind="subcommand", name="undo"),
    Part(kind="option", name="--due", command="add", takes_value=True),
)
CALLS = (ObservedCall(argv=("add", "T"), exit_code=0, stdout='{"id": 1}\n', written=("t",)),)
GUIDE = "# Tasks\n\nUse `--due`.\n\n## Add\n\n```sh\n# a comment\n$ t add --due 1 T\n```\n\n## Why\n\nOrder.\n"


def test_every_kind_is_described() -> None:
    assert set(KINDS) == set(get_args(MutantKind))


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


def test_a_tool_without_subcommands_is_named_by_its_program() -> None:
    calls = (ObservedCall(argv=("x",), exit_code=1, stderr="no\n"),)
    found = {one.words for one in of_program((), calls, "t")}
    assert {"`t` exits with 0 where it fails", "`t` fails without a message"} <= found


def test_results_are_changed_only_of_tools_that_are_called() -> None:
    parts = (Part(kind="tool", name="sum"), Part(kind="tool", name="undo"))
    calls = (ObservedCall(argv=("sum", "{}"), exit_code=0),)
    found = {(one.kind, one.command) for one in of_server(parts, calls, read=False)}
    assert ("result_emptied", "sum") in found
    assert ("tool_removed", "undo") in found
    assert ("result_emptied", "undo") not in found
    assert not any(kind == "description_emptied" for kind, _ in found)


def test_only_an_agent_with_a_model_reads_sections_without_examples() -> None:
    words = [one.name for one in of_guidance({"A.md": GUIDE}, read=False)]
    assert words == ["Add", "--due"]
    assert [one.name for one in of_guidance({"A.md": GUIDE}, read=True)] == ["Tasks", "Add", "Why", "--due"]


def test_a_section_is_dropped_up_to_the_next_heading() -> None:
    add, due = of_guidance({"A.md": GUIDE}, read=False)
    assert changed_guidance(add, GUIDE) == "# Tasks\n\nUse `--due`.\n\n## Why\n\nOrder.\n"
    assert changed_guidance(due, GUIDE) == GUIDE.replace("--due", "--de")
