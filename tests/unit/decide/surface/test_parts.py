"""Parts of a surface, and what uses them."""

from __future__ import annotations

from tidegate.decide.surface.parts import command_of, commands, json_keys, of_calls, of_help
from tidegate.decide.surface.server_parts import of_server
from tidegate.decide.surface.used import Scenario, counts, surface_change, users
from tidegate.model.surface import ObservedCall, Part

PAGES = {
    "": "Usage: t [options]\n\nCommands:\n  add  Adds\n  remote  Others\n\nOptions:\n  --quiet  Less\n",
    "add": "Usage: t add TITLE\n\nOptions:\n  --due DATE  When\n  --quiet  Less\n",
    "remote": "Usage: t remote\n\nCommands:\n  add  Adds one\n",
}


def call(*argv: str, **fields: object) -> ObservedCall:
    return ObservedCall.model_validate({"argv": argv, "exit_code": 0, **fields})


def test_options_of_the_tool_are_not_listed_again_for_subcommands() -> None:
    named = [str(part) for part in of_help(PAGES, "t")]
    assert named == ["`add`", "`remote`", "`--quiet`", "`--due` of `add`", "`TITLE` of `add`", "`remote add`"]


def test_a_page_of_a_subcommand_that_repeats_the_tools_page_lists_no_subcommands() -> None:
    page = "usage: semver <command>\n\nCommands:\n  bump   Raise it\n  get    Print it\n"
    parts = of_help({"": page, "bump": f"unknown command --help\n{page}"}, "semver")
    assert [part.name for part in parts if part.kind == "subcommand"] == ["bump", "get"]


def test_subcommands_of_a_subcommand_count_where_the_tools_page_lists_none() -> None:
    parts = of_help({"": "usage: t\n", "remote": PAGES["remote"]}, "t")
    assert [part.name for part in parts if part.kind == "subcommand"] == ["remote add"]


def test_a_subcommand_for_help_is_no_feature_of_the_tool() -> None:
    page = "Usage: t\n\nCommands:\n  add   Adds\n  help  Explains\n"
    assert [str(part) for part in of_help({"": page}, "t")] == ["`add`"]


def test_the_two_sides_of_a_switch_are_two_options_with_their_own_short_names() -> None:
    page = "Usage: t\n\nOptions:\n  -c, --current / -C, --no-current\n                Include the current one.\n"
    parts = of_help({"": page}, "t")
    assert [(part.name, part.aliases) for part in parts] == [("--current", ("-c",)), ("--no-current", ("-C",))]
    used = users(parts, {"s": Scenario((call("-C"),), "")})
    assert [str(part) for part in parts if used[part.id]] == ["`--no-current`"]


def test_the_subcommand_of_a_call_comes_after_options_and_their_values() -> None:
    names = commands(of_help(PAGES, "t"))
    given = [["add", "x"], ["--dir", "p", "add"], ["remote", "add", "x"], ["remote", "x"], ["x", "add"], ["--quiet"]]
    assert [command_of(argv, names) for argv in given] == ["add", "add", "remote add", "remote", "", ""]


def test_calls_show_keys_exit_codes_and_files() -> None:
    calls = [call("add", stdout='{"tasks": [{"id": 1}]}', written=(".t/3.json",)), call("--help", stdout="{}")]
    found = of_calls(calls, of_help(PAGES, "t"))
    assert [str(part) for part in found] == [
        "exit code 0 of `add`",
        "key `tasks` of `add`",
        "key `id` of `add`",
        "`.t/N.json` of `add`",
    ]


def test_json_line_by_line_has_keys_and_text_has_none() -> None:
    assert json_keys('{"a": 1}\n{"b": 2}\n') == ("a", "b")
    assert json_keys("[x] 1 Write") == () == json_keys("42")


def test_use_by_scenarios() -> None:
    parts = (*of_help(PAGES, "t"), Part(kind="json_key", name="id", command="add"), Part(kind="json_key", name="x"))
    scenario = Scenario((call("add", "--due=1", "T"), call("remote", "--help")), 'path: "$.id"')
    used = users(parts, {"s": scenario})
    assert {str(part) for part in parts if used[part.id]} == {
        "`add`",
        "`--due` of `add`",
        "`TITLE` of `add`",
        "key `id` of `add`",
    }
    assert counts(parts, used) == "1 of 3 subcommands, 1 of 2 options, 1 of 2 JSON keys"


def test_parameters_of_tools_are_used_by_their_input() -> None:
    schema = {"properties": {"a": {}, "b": {}}, "required": ["a"]}
    parts = of_server({"tools": [{"name": "sum", "inputSchema": schema}, {"name": "undo"}]})
    used = users(parts, {"s": Scenario((call("sum", '{"a": 1}'),), "")})
    assert [str(part) for part in parts if used[part.id]] == ["`sum`", "`a` of `sum`"]
    assert [part.required for part in parts] == [False, True, False, False]


def test_a_change_names_what_is_new_gone_and_different() -> None:
    base = of_help(PAGES, "t")
    head = of_help(
        {
            "": PAGES[""].replace("--quiet", "--silent").replace("remote  Others", "undo  Undoes"),
            "add": PAGES["add"].replace("--due DATE", "--due {now,later}"),
            "undo": "Usage: t undo\n\nOptions:\n  --all  All\n",
        },
        "t",
    )
    change = surface_change(base, head)
    assert [str(part) for part in change.added] == ["`undo`", "`--silent`", "`--quiet` of `add`"]
    assert [str(part) for part in change.removed] == ["`remote`", "`--quiet`"]
    assert [str(new) for _, new in change.changed] == ["`--due` of `add`"]


def test_an_option_with_a_general_name_beside_its_own_is_one() -> None:
    page = "Options:\n  -h, --human  Sizes\n  -V, --quiet  Nothing\n  -V, --version  Version\n  -h  Help\n"
    assert [part.name for part in of_help({"": page}, "t")] == ["--human", "--quiet"]
