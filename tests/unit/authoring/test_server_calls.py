"""Which calls of an MCP server a first suite makes, and what its checks accept."""

from __future__ import annotations

import json
import re
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from tidegate.agents.scripted import signature
from tidegate.authoring.server_calls import examples
from tidegate.authoring.server_checks import (
    answer_check,
    of_each_call,
    surface_checks,
    tells_time,
)
from tidegate.authoring.server_example import Example, Missing
from tidegate.authoring.server_files import samples_of, with_files
from tidegate.authoring.server_folders import moved, with_lacking
from tidegate.authoring.server_ids import NO_ID, sources
from tidegate.authoring.server_suite import at_url, why_not_called, workspace_files
from tidegate.authoring.server_values import (
    HERE,
    listed_values,
    made_value,
    schema_of,
    shown_values,
    with_definitions,
    with_told_values,
)
from tidegate.authoring.shown_calls import shown_objects
from tidegate.authoring.tool import Tool as Server
from tidegate.checks.evaluators.matching import as_json, matches
from tidegate.model.agent import Tool

TEXT = {"type": "string"}


def tool(name: str, required: tuple[str, ...] = (), hints: dict[str, Any] | None = None, **properties: Any) -> Tool:
    schema = {"type": "object", "properties": properties, "required": list(required)}
    return Tool(name, "", schema, hints or {})


READ = tool("read", ("path",), path={"type": "string"}, head={"type": "number"})


def test_the_only_tool_of_a_server_is_given_what_tests_give_to_any_function() -> None:
    sums = [f"{number} ÷ 2" for number in range(20)]
    shown = shown_objects([], ["\n".join(f"assert evaluate({one!r}) == 1" for one in sums)])
    calculate = tool("calculate", ("expression",), expression=TEXT)
    assert {*sums} <= {one.input.get("expression") for one in examples([calculate], shown)}
    assert not {*sums} & {one.input.get("expression") for one in examples([calculate, READ], shown)}


def test_tools_are_called_that_need_no_input_or_whose_input_is_shown() -> None:
    readme = """
```json
{"method": "tools/call", "params": {"name": "read", "arguments": {"path": "a.txt"}}}
```
  ```json
  {"from": "UTC", "to": "CET"}
  ```
"""
    tools = [
        tool("list"),
        READ,
        tool("convert", ("from", "to"), **{"from": {}, "to": {}}),
        tool("mode", ("kind",), kind={"enum": ["fast", "slow"]}),
        tool("guess", ("what",), what={"type": "string"}),
        tool("wipe", hints={"destructiveHint": True}),
        tool("fetch", hints={"openWorldHint": True}),
    ]
    found = examples(tools, shown_objects([readme], []))
    expected = [
        Example("list", {}),
        Example("read", {"path": "a.txt"}),
        Example("convert", {"from": "UTC", "to": "CET"}),
        Example("mode", {"kind": "fast"}),
    ]
    assert [one for place, one in enumerate(found) if one in expected and one not in found[:place]] == expected
    assert {one.tool for one in found} == {"list", "read", "convert", "mode", "guess"}


def test_what_one_tool_writes_others_read_by_the_same_name_and_again_after_it_changed() -> None:
    text = {"type": "string"}
    tools = [
        tool("delete_note", ("title",), title=text),
        tool("read_note", ("title",), title=text),
        tool("update_note", ("title", "content"), title=text, content=text),
        tool("list_notes"),
        tool("write_note", ("title", "content"), title=text, content=text),
    ]
    found = [one for one in examples(tools, []) if one.tries != "odd"]
    assert [f"{one.tool} {one.input.get('title', '')}".strip() for one in found] == [
        "list_notes",
        *("write_note first", "list_notes", "read_note first", "list_notes"),
        *("update_note first", "read_note first", "list_notes"),
        *("write_note second", "list_notes", "read_note second", "list_notes"),
        *("update_note second", "read_note second", "list_notes"),
        *("write_note first", "list_notes", "read_note first", "list_notes"),
        *("update_note first", "read_note first", "list_notes"),
        *("read_note first", "list_notes", "read_note second"),
        *("write_note first", "read_note first", "list_notes"),
        *("delete_note first", "read_note first", "list_notes"),
        *("delete_note second", "read_note second", "list_notes"),
        *("read_note first", "list_notes", "read_note second"),
    ]
    contents = [one.input["content"] for one in found if one.input.get("title") == "first" and "content" in one.input]
    assert len(set(contents[:3])) == 3


def test_the_two_ends_of_a_relation_are_names_of_what_was_written_before() -> None:
    text = {"type": "string"}
    ends = {"type": "object", "properties": {"from": text, "to": text}, "required": ["from", "to"]}
    (link, *_) = examples([tool("link", ("relations",), relations={"type": "array", "items": ends})], [])
    assert {*link.input["relations"][0].values()} == {"first", "second"}


def test_odd_values_name_nothing_or_are_at_the_edge_of_what_is_allowed() -> None:
    text, many = {"type": "string"}, {"type": "array", "items": {"type": "string"}}
    tools = [
        tool("write_note", ("title", "content"), title=text, content=text),
        tool("read_note", ("title",), title=text),
        tool("find_notes", ("words",), words=many),
        tool("delete_note", ("title",), title=text),
        tool("round", ("value",), value={"type": "number"}),
        tool("sum", ("values",), values={"type": "array", "items": {"type": "integer"}}),
    ]
    odd = [one for one in examples(tools, []) if one.tries == "odd"]
    assert [one.input["title"] for one in odd if one.tool == "delete_note"] == ["no-such-title"]
    read = {one.input["title"][:13] for one in odd if one.tool == "read_note"}
    assert {"no-such-title", "", "a(b", "  Grüße, 影: b", "long text, lo"} <= read
    words = [one.input["words"] for one in odd if one.tool == "find_notes"]
    assert (["no-such-words"] in words, [] in words) == (True, True)
    assert [one.input["value"] for one in odd if one.tool == "round"] == [-1, 0]
    empty, negative = (one.input["values"] for one in odd if one.tool == "sum")
    assert (empty, max(negative) < 0) == ([], True)
    written = [one.input for one in odd if one.tool == "write_note" and one.input["title"].endswith("-first")]
    assert [one["content"][:3] for one in written] == ["", "a(b", "  G", "lon"]
    assert len({one["title"] for one in written}) == 4


def test_an_example_with_a_parameter_that_the_tool_does_not_list_is_called_all_the_same() -> None:
    readme = '```json\n{"name": "read", "arguments": {"path": "a.txt", "mode": "fast"}}\n```'
    assert examples([READ], shown_objects([readme], []))[0].input == {"path": "a.txt", "mode": "fast"}


def test_an_id_that_names_nothing_has_the_form_of_those_that_the_server_gives() -> None:
    tools = [tool("show", ("ids",), ids={"type": "array", "items": {"type": "string"}})]
    calls = examples(tools, [], ['[{"id": "QE1a"}]'] * 2)
    assert [one.input["ids"] for one in calls][:2] == [["QE1a"], ["a1EQ"]]


def test_a_writing_call_with_one_more_parameter_is_repeated_with_another_name() -> None:
    text = {"type": "string"}
    add = tool("add", ("id",), id=text, tags={"type": "array", "items": text, "default": []})
    calls = examples([add, tool("get", ("id",), id=text)], [])
    more = [one.input for one in calls if one.tool == "add" and one.tries == "option"]
    assert [(one["id"], len(one["tags"])) for one in more] == [
        *(("first", 2), ("2-first", 2)),
        *(("first", 0), ("3-first", 0)),
        *(("first", 1), ("4-first", 1)),
    ]


def test_each_parameter_that_is_not_required_is_given_once_with_a_value_other_than_its_default() -> None:
    kinds = {"enum": ["plain", "html"], "default": "plain"}
    tools = [tool("show", ("path",), path={"type": "string"}, style=kinds, deep={"type": "boolean"})]
    more = [one.input for one in examples(tools, []) if one.tries == "option"]
    one_each = [{"path": "notes.txt", "deep": True}, {"path": "notes.txt", "style": "html"}]
    assert more == [{"path": "notes.txt", "deep": True, "style": "html"}, *one_each]


def test_a_list_in_a_text_has_two_values_and_a_threshold_is_a_fraction() -> None:
    labels = {"anyOf": [{"type": "string"}, {"type": "null"}], "description": "Comma-separated list"}
    find = tool("find", ("labels", "threshold"), labels=labels, threshold={"type": "number"})
    usual = [one.input for one in examples([find], []) if not one.tries]
    assert {one["labels"].count(",") for one in usual} == {1}
    assert len({one["threshold"] for one in usual}) > 2
    assert all(0 <= one["threshold"] <= 1 for one in usual)


def test_what_was_refused_is_no_call_that_others_start_from() -> None:
    text = {"type": "string"}
    tools = [tool("write_note", ("title",), title=text, style=text), tool("list_notes", ())]
    refused = {Example("write_note", {"title": ""}).key: "title required"}
    calls = examples(tools, [{"title": ""}], refused=refused)
    assert "" not in [one.input["title"] for one in calls if one.tries == "option" and one.input]
    assert "" in [one.input["title"] for one in calls if one.input]


def test_what_writes_is_followed_by_what_asks_for_the_id_that_it_gave() -> None:
    text = {"type": "string"}
    others = [tool(f"list_{what}", ()) for what in ("notes", "tags", "links")]
    tools = [tool("add_note", ("text",), text=text), *others, tool("get_note", ("identifier",), identifier=text)]
    calls = [one for one in examples(tools, [], sources=["add_note"]) if not one.tries]
    added = [place for place, one in enumerate(calls) if one.tool == "add_note"]
    asked = [[one.input for one in calls[place + 1 : place + 4] if one.tool == "get_note"] for place in added]
    assert {own[0]["identifier"]["answer_of"] for own in asked} == {"add_note"}, "after each, among three calls"


def test_an_id_that_a_tool_requires_to_write_is_made_and_the_others_ask_for_it() -> None:
    text = {"type": "string"}
    tools = [tool("add_note", ("id", "text"), id=text, text=text), tool("get_note", ("id",), id=text)]
    made = {one.input["id"] for one in examples(tools, []) if one.tries != "odd"}
    assert made == {"first", "second"}


def test_a_link_of_numbers_has_two_ends() -> None:
    whole = {"type": "integer"}
    tools = [
        tool("add", ("title",), title=TEXT),
        tool("link", ("source_id", "target_id"), source_id=whole, target_id=whole),
    ]
    made = [one.input for one in examples(tools, []) if one.tool == "link" and not one.tries]
    assert made[:2] == [{"source_id": 1, "target_id": 2}, {"source_id": 2, "target_id": 1}]


def test_ids_that_all_answers_give_are_used() -> None:
    tools = [tool("next_task", ("requestId",), requestId={"type": "string"})]
    assert [call.tries for call in examples(tools, [])] == ["unknown"]
    answers = ['{"requestId": "req-1", "at": 7}', '{"requestId": "req-1", "at": 8}']
    assert examples(tools, [], answers)[0].input == {"requestId": "req-1"}
    assert [call.tries for call in examples(tools, [], ["id: a1", "id: b2"])] == ["unknown"]


def test_ids_of_the_server_are_used_by_tools_that_write_too_and_ids_of_our_calls_are_none() -> None:
    text = {"type": "string"}
    tools = [tool("add_task", ("listId", "text"), listId=text, text=text), tool("show", ("listId",), listId=text)]
    for answers, used in ((["listId: L7"] * 2, "L7"), (["no list with listId: first"] * 2, "first")):
        known = [one for one in examples(tools, [], answers) if not one.tries]
        assert {one.tool for one in known if one.input["listId"] == used} == {"add_task", "show"}


@pytest.mark.parametrize(
    ("error", "name"),
    [
        ("Invalid filename: sample.txt, must be an absolute path", "/proc/self/cwd/sample.txt"),
        ("does not support .txt files. Supported formats are: .xlsx, .xlsm", "sample.xlsx"),
        ("Unsupported file extension: txt. Use one of: md, json, yml", "sample.md"),
        ("no such note", "sample.txt"),
    ],
)
def test_files_are_named_as_the_errors_of_the_server_want_them(error: str, name: str) -> None:
    (call,) = with_files([Example("read", {"path": "sample.txt", "count": 3})], [error])
    assert call.input == {"path": name, "count": 3}


def test_a_file_that_cannot_be_written_in_the_build_is_linked_to_the_current_folder(tmp_path: Path) -> None:
    reason = "OSError: [Errno 30] Read-only file system: '/tmp/run-1/.tidegate/venv/lib/python3.10/own.log'"
    command = 'for at in .tidegate/venv/lib/python3*; do ln -sfn /proc/self/cwd/own.log "$at/own.log"; done'
    assert moved(reason, tmp_path) == command
    assert moved("OSError: [Errno 30] Read-only file system: '/etc/own.log'", tmp_path) is None
    quoted = moved("Read-only file system: '/tmp/.tidegate/a $(id)/own.log'", tmp_path)
    assert quoted is not None
    assert quoted.startswith("for at in '.tidegate/a $(id)'; do")


def test_a_file_that_a_call_cannot_write_in_the_checkout_is_linked_unless_it_is_there(tmp_path: Path) -> None:
    reason = f"execution failed: EROFS: read-only file system, open '{tmp_path}/data/sources.json'"
    command = 'for at in data; do ln -sfn /proc/self/cwd/sources.json "$at/sources.json"; done'
    assert moved(reason, tmp_path) == command
    assert moved(reason, tmp_path / "other") is None
    (tmp_path / "data").mkdir()
    (tmp_path / "data/sources.json").write_text("[]")
    assert moved(reason, tmp_path) is None


def test_a_folder_of_home_that_an_error_lacks_is_made_before_the_trial() -> None:
    errors = ["Error: ENOENT: no such file or directory, open '/tmp/run-1/home/My Docs/tasks.json'", "no such note"]
    assert with_lacking(Server("notes"), [*errors, *errors]).setup == ('mkdir -p "$HOME/My Docs"',)
    assert with_lacking(Server("notes"), ["No such file: '/tmp/run-1/home/../etc/a'"]).setup == ()
    assert with_lacking(Server("notes"), ["No such file: '/tmp/1/workspace/logs/a.log'"]).setup == ('mkdir -p "logs"',)


def test_a_database_that_an_error_lacks_is_made_if_a_variable_names_it() -> None:
    server = Server("notes", env=(("DB", "notes.db"), ("MODE", "safe")))
    (made,) = with_lacking(server, ["Database not found at: notes.db", "other.db not found"]).setup
    assert re.fullmatch("python3 -c .* notes.db", made)
    assert with_lacking(server, ["notes.db is locked"]).setup == ()


def test_a_text_is_made_of_what_its_description_shows() -> None:
    query = {"type": "string", "description": "SQL query to run"}
    zone = {"type": "string", "description": "a zone, e.g. 'Asia/Tokyo'"}
    calls = examples([tool("ask", ("query",), query=query), tool("now", ("zone",), zone=zone)], [])
    assert [call.input["query"].split()[0] for call in calls if call.tool == "ask" and not call.tries] == [
        *("CREATE", "INSERT", "SELECT", "SELECT", "SELECT", "WITH"),
    ]
    assert Example("now", {"zone": "Asia/Tokyo"}) in calls
    schema = {"properties": {"query": {"type": "string"}}}
    documented = Tool("ask", "Asks.\n\nArgs:\n    query: SELECT SQL query\n", schema)
    assert any("SELECT" in str(call.input) for call in examples([documented], []))


def test_a_block_of_several_objects_with_comments_shows_an_input_each() -> None:
    shown = '```python\n# a list\n{\n  "command": ["ls"],\n}\n\n{\n  "command": ["cat"]  # both\n}\n```'
    run = tool("run", ("command",), command={"type": "array"})
    assert [call.input["command"] for call in examples([run], shown_objects([shown], []))[:2]] == [["ls"], ["cat"]]
    other = tool("other", ("command",), command={"type": "array"})
    assert examples([run, other], shown_objects([shown], [])) == ()


def test_a_call_in_a_block_of_python_is_an_example() -> None:
    shown = '```python\n# First\nadd(\n    text="x",\n    stage="Research"\n)\n```'
    assert examples([tool("add", ("text",), text={}, stage={})], shown_objects([shown], []))[0].input == {
        "text": "x",
        "stage": "Research",
    }


def test_an_id_that_is_not_required_is_what_other_calls_give() -> None:
    text = {"type": "string"}
    tools = [tool("think", ("text",), text=text, session_id=text), tool("list", session_id=text)]
    shown = '```json\n{"name": "think", "arguments": {"text": "x", "session_id": "s1"}}\n```'
    assert Example("list", {"session_id": "s1"}, "option") in examples(tools, shown_objects([shown], []))


def test_a_path_of_another_machine_in_a_documented_input_is_in_the_current_folder() -> None:
    shown = '```json\n{"command": ["ls"], "directory": "/path/to/project"}\n```'
    run = tool("run", ("command", "directory"), command={"type": "array"}, directory={"type": "string"})
    assert examples([run], shown_objects([shown], []))[0].input == {"command": ["ls"], "directory": "/proc/self/cwd"}


def test_no_link_is_made_outside_of_the_checkout_whatever_a_server_says(tmp_path: Path) -> None:
    for folder in (".tidegate/../..", ".tidegate/out"):
        (tmp_path / "checkout/.tidegate").mkdir(parents=True, exist_ok=True)
        (tmp_path / "checkout/.tidegate/out").unlink(missing_ok=True)
        (tmp_path / "checkout/.tidegate/out").symlink_to(tmp_path)
        assert moved(f"Read-only file system: '/tmp/run-1/{folder}/.bashrc'", tmp_path / "checkout") is None


def test_two_parameters_with_the_same_values_get_different_ones() -> None:
    unit = {"enum": ["m", "km"]}
    first, *_ = examples([tool("convert", ("source", "target"), source=unit, target=unit)], [])
    assert first.input == {"source": "m", "target": "km"}


def test_an_example_with_the_name_of_a_tool_is_not_given_to_others_with_the_same_parameters() -> None:
    text = {"type": "string"}
    tools = [tool(name, ("from", "to"), **{"from": text, "to": text}) for name in ("length", "time")]
    shown = {name: {"from": f"{name} a", "to": f"{name} b"} for name in ("time", "length")}
    blocks = (json.dumps({"name": name, "arguments": given}) for name, given in shown.items())
    found = examples(tools, shown_objects([f"```json\n{block}\n```" for block in blocks], []))
    assert {one.tool: one.input for one in reversed(found)} == shown


def test_each_value_that_a_schema_lists_is_given_if_there_are_few_tools() -> None:
    kinds = [f"kind{number}" for number in range(7)]
    tools = [tool("convert", ("kind",), kind={"enum": kinds}), tool("list")]
    assert [one.input["kind"] for one in examples(tools, []) if one.tool == "convert" and not one.tries] == kinds
    many = examples([*tools, *[tool(f"read{number}") for number in range(28)]], [])
    assert sum(one.tool == "convert" and not one.tries for one in many) == 2
    assert [one.input["kind"] for one in many if one.tool == "convert" and one.tries != "odd"] == kinds


@pytest.mark.parametrize(
    "schema",
    [
        {"anyOf": [{"type": "string", "enum": ["a", "b"]}, {"type": "null"}]},
        {"oneOf": [{"const": "a"}, {"const": "b"}]},
        {"type": ["null", "string"], "enum": ["a", "b"], "anyOf": 7, "examples": "a"},
    ],
)
def test_values_are_listed_by_a_schema_with_alternatives_too(schema: dict[str, Any]) -> None:
    assert shown_values(schema) == ["a", "b"]


def test_words_in_parentheses_are_the_values_of_a_text() -> None:
    assert shown_values({"type": "string", "description": "Its kind (short, long, or none)"}) == [
        "short",
        "long",
        "none",
    ]
    assert shown_values({"type": "string", "description": "Its kind (of any length)"}) == []


def test_a_list_gets_all_values_that_its_items_may_have() -> None:
    assert shown_values({"type": "array", "items": {"enum": ["mean", "max"]}}) == [["mean", "max"]]


def test_a_call_gets_what_its_error_names_until_it_works() -> None:
    numbers = {"type": "array", "items": {"type": "number"}}
    finance = tool("finance", ("what",), what={"enum": ["npv"]}, rate={"type": "number"}, flows=numbers, note=TEXT)
    plain = Example("finance", {"what": "npv"})
    lacks_rate = {plain.key: "npv requires `rate`"}
    named = [one for one in examples([finance], [], refused=lacks_rate) if one.input.keys() == {"what", "rate"}]
    lacks_both = {**lacks_rate, **{one.key: "npv requires flows" for one in named}}
    found = [one.input.keys() for one in examples([finance], [], refused=lacks_both)]
    assert {"what", "rate"} in found
    assert {"what", "rate", "flows"} in found
    assert {"what", "rate", "flows"} not in [one.input.keys() for one in examples([finance], [], refused=lacks_rate)]


@pytest.mark.parametrize(
    "error",
    [
        "Unknown item state: Ada has 42 points.. Must be one of ('open', 'in_work', 'done')",
        "'Ada has 42 points.' is no state. Valid states: open, in_work, done",
        'itemState must be "open", "in_work" or "done"',
    ],
)
def test_a_text_gets_the_values_that_an_error_lists_for_it(error: str) -> None:
    move = tool("move", ("item", "item_state"), item=TEXT, item_state=TEXT)
    given = json.dumps(["move", {"item": "Ada", "item_state": "Ada has 42 points."}])
    told = with_told_values(move, {given: error})
    assert listed_values(schema_of(told, "item_state")) == ["open", "in_work", "done"]
    assert schema_of(told, "item") == TEXT


@pytest.mark.parametrize("error", ["item_state must be short", "no such item: one of them is gone", "no state: a, b"])
def test_an_error_that_lists_no_values_changes_no_tool(error: str) -> None:
    move = tool("move", ("item_state",), item_state=TEXT)
    other = tool("copy", ("item_state",), item_state=TEXT)
    given = json.dumps(["move", {"item_state": "x"}])
    assert with_told_values(move, {given: error}) == move
    assert with_told_values(other, {given: "item_state must be one of a, b"}) == other


def test_a_list_that_an_error_names_is_that_of_the_same_name_with_another_number() -> None:
    matrix = {"type": "array", "items": {"type": "array", "items": {"type": "number"}}}
    multiply = tool("multiply", ("matrix1",), matrix1=matrix, matrix2=matrix)
    (first, *_) = examples([multiply], [])
    found = examples([multiply], [], refused={first.key: "requires matrix2"})
    assert {"matrix1": first.input["matrix1"], "matrix2": first.input["matrix1"]} in [one.input for one in found]


def test_of_an_option_that_many_tools_have_each_tries_one_value() -> None:
    formats = {"enum": ["full", "short", "none"]}
    tools = [tool(f"read{number}", ("path",), path=TEXT, form=formats) for number in range(4)]
    found = [(one.tool, one.input["form"]) for one in examples(tools, []) if "form" in one.input]
    assert {*found} == {("read0", "full"), ("read1", "short"), ("read2", "none"), ("read3", "full")}


@pytest.mark.parametrize(
    ("code", "readme", "first"),
    [
        ("process.env['PORT']", "", ("env PORT={port} notes", "/mcp")),
        ("process.env.REDIS_PORT; process.env.PORT", "at http://localhost:3000/rpc", ("env PORT={port} notes", "/rpc")),
        ("", "http://localhost:1/health, http://localhost:1/api/mcp", ("env PORT={port} notes", "/api/mcp")),
        ("from fastmcp import FastMCP", "", ("env FASTMCP_PORT={port} notes", "/mcp")),
    ],
)
def test_a_server_over_http_gets_its_port_as_its_code_reads_it(code: str, readme: str, first: tuple[str, str]) -> None:
    server = next(at_url("notes", readme, code))
    assert (server.command, server.url.partition("{port}")[2]) == first


def test_answers_of_a_call_that_is_made_again_are_each_needed_as_often() -> None:
    answers = [answer_check("target", Example("list", {}), [text] * 2) for text in ("first", "second", "first")]
    (found,) = of_each_call(answers)
    assert [one["output"]["regex"] for one in found["expected"]] == [r"\Afirst\Z", r"\Asecond\Z", r"\Afirst\Z"]


def test_checks_of_calls_whose_names_are_alike_have_other_names() -> None:
    long = "x" * 200
    checks = [answer_check("target", Example("list", {"of": f"{long}{end}"}), ["y"] * 2) for end in "ab"]
    first, second = (check["name"] for check in of_each_call(checks))
    assert second == f"{first} (2)"


def test_what_is_written_is_read_and_then_written_again_with_a_longer_text() -> None:
    text = {"type": "string"}
    tools = [tool("write", ("title", "content"), title=text, content=text), tool("read", ("title",), title=text)]
    calls = examples(tools, [])
    written = [one.input["content"] for one in calls if one.tool == "write" and one.input["title"] == "first"]
    assert written[0] == "Ada has 42 points."
    assert any(one.startswith(written[0]) and one.endswith(" \n") for one in written[1:])
    pairs = [(one, after) for one, after in pairwise(calls) if one.tool == "write"]
    assert all(after.tool == "read" and after.input["title"] == one.input["title"] for one, after in pairs)


def test_a_text_to_replace_is_one_that_was_written_to_the_file() -> None:
    text = {"type": "string"}
    tools = [
        tool("write", ("file_path", "content"), file_path=text, content=text),
        tool("read", ("file_path",), file_path=text),
        tool("edit", ("path", "old_text", "new_text"), path=text, old_text=text, new_text=text),
    ]
    calls = examples(tools, [])
    written = {one.input["file_path"]: one.input["content"] for one in reversed(calls) if one.tool == "write"}
    edit = next(one.input for one in calls if one.tool == "edit")
    assert edit["old_text"] in written[edit["path"]]


def test_an_example_that_the_server_refused_is_not_the_one_that_gets_options_or_names() -> None:
    create = tool("create", ("title", "content"), title=TEXT, content=TEXT, tags=TEXT)
    get = tool("get", ("title",), title=TEXT, limit={"type": "integer"})
    shown = [{"title": "", "content": "Ada"}]
    (first, *_) = examples([create, get], shown)
    found = examples([create, get], shown, refused={first.key: "Title is required"})
    assert first.input == shown[0]
    assert {one.input["title"] for one in found if "tags" in one.input or "limit" in one.input}.isdisjoint({""})


def test_an_example_of_other_types_than_the_schema_lists_is_not_used() -> None:
    create = tool("create", ("title", "tags"), title=TEXT, tags=TEXT)
    (first, *_) = examples([create], [{"title": "Ada", "tags": ["a"]}, {"title": "Bea", "tags": "b"}])
    assert first.input == {"title": "Bea", "tags": "b"}


def test_an_example_that_lacks_what_is_required_is_not_used() -> None:
    write = tool("write", ("title", "content"), title={"type": "string"}, content={"type": "string"})
    shown = [{"name": "write", "arguments": {"title": "of-a-test"}}]
    assert all(one.input["title"] != "of-a-test" for one in examples([write], shown))


def test_other_parameters_are_given_at_once_with_a_range_that_ends_after_its_start() -> None:
    whole = {"type": "integer"}
    read = tool("read", ("title",), title={"type": "string"}, start=whole, end=whole)
    together = [one.input for one in examples([read], []) if {"start", "end"} <= one.input.keys()]
    assert [(one["start"], one["end"]) for one in together] == [(2, 3)]


@pytest.mark.parametrize(
    ("made", "failed", "reason"),
    [
        (tool("wipe", hints={"destructiveHint": True}), {}, "its annotations report that it destroys something"),
        (tool("odd", ("key",), key={"type": "null"}), {}, "no input could be made"),
        (tool("open", ("key",), key={"type": "string"}), {"open": "no such key"}, "its ids differ each time"),
        (tool("read"), {"read": "Traceback\n  no such note\n"}, "the call failed: no such note"),
    ],
)
def test_it_is_told_why_a_tool_is_not_called(made: Tool, failed: dict[str, str], reason: str) -> None:
    assert why_not_called(made, examples([made], []), failed).startswith(reason)


@pytest.mark.parametrize(
    ("name", "schema", "first", "second"),
    [
        ("minuend", {"type": "number"}, 7, 3),
        ("count", {"anyOf": [{"type": "integer"}, {"type": "null"}]}, 7, 3),
        ("numbers", {"type": "array", "items": {"type": "number"}}, [7, 3, 0.5, 2, 7], [3, 0.5, 2, -2.6, 3]),
        ("flag", {"type": "boolean"}, True, False),
        ("item_id", {"type": "integer"}, 1, 2),
        ("parentId", {"type": "integer"}, 1, 2),
        ("file_path", {"type": "string"}, "sample.txt", "notes.txt"),
        ("url", {"type": "string"}, None, None),
        (
            "other",
            {"type": "object"},
            {"name": "Ada", "score": 9, "city": "London"},
            {"name": "Grace", "score": 7, "city": "London"},
        ),
        (
            "row",
            {"type": "object", "additionalProperties": {"anyOf": [{"type": "string"}, {"type": "null"}]}},
            {"name": "Ada", "score": "9", "city": "London"},
            {"name": "Grace", "score": "7", "city": "London"},
        ),
        (
            "types",
            {"type": "object", "additionalProperties": {"enum": ["text", "whole"], "type": "string"}},
            {"name": "text", "score": "whole", "city": "text"},
            {"name": "whole", "score": "text", "city": "whole"},
        ),
        ("urls", {"type": "object", "additionalProperties": {"type": "null"}}, None, None),
        (
            "key_columns",
            {"type": "array", "items": {"type": "string"}},
            ["name", "score", "city"],
            ["score", "city", "name"],
        ),
        (
            "filters",
            {"type": "array", "items": {"properties": {"column": {"type": "string"}, "value": {}}, "type": "object"}},
            [{"column": "name", "value": "Ada"}],
            [{"column": "score", "value": 9}],
        ),
        (
            "task",
            {"type": "object", "properties": {"title": {"type": "string"}}},
            {"title": "first"},
            {"title": "second"},
        ),
        ("mode", {"type": "string", "enum": ["a", "b"]}, "a", "b"),
        ("flows", {"anyOf": [TEXT, {"type": "null"}, {"type": "number"}]}, 7, 3),
        ("size", {"type": ["null", "integer"], "enum": "none"}, 1, 2),
    ],
)
def test_a_value_is_made_by_type_and_name_and_differs_by_turn(name: str, schema: Any, first: Any, second: Any) -> None:
    assert (made_value(name, schema, 0), made_value(name, schema, 1)) == (first, second)


@pytest.mark.parametrize(
    ("head", "missed"),
    [
        (READ, []),
        (tool("read", ("path",), path={}, head={}, tail={}), []),
        (tool("read", (), path={}, head={}), []),
        (tool("read", ("path", "head"), path={}, head={}), ["read takes head, path"]),
        (tool("read", ("path", "mode"), path={}, head={}, mode={}), ["read takes head, path"]),
        (tool("read", ("path",), path={}), ["read takes head, path"]),
        (tool("read_file", ("path",), path={}, head={}), ["offers read", "read takes head, path"]),
    ],
    ids=["same", "new option", "no longer required", "now required", "new required", "option gone", "renamed"],
)
def test_checks_of_what_is_offered_fail_when_a_call_of_today_could_fail(head: Tool, missed: list[str]) -> None:
    listed = "\n".join(map(signature, [tool("another", ("path",), path={}), head]))
    checks = [*surface_checks([READ])]
    assert [check["name"] for check in checks if not matches(check["expected"][0]["output"], listed)] == missed


@pytest.mark.parametrize(
    ("answers", "fits", "wrong"),
    [
        (["Moved milk\nid 7", "Moved milk\nid 8"], ["Moved milk\nid 9"], ["Moved tea\nid 7", "Moved milk"]),
        (["8"] * 2, [], ["88", "9"]),
        (["a1b2c3d4", "e5f6a7b8"], ["anything"], []),
        (["Moved by 1a2b3c4d5e", "Moved by 9f8e7d6c5b"], ["Moved by 2"], ["anything"]),
        (
            ["{'at': 91, 'size': 5, 'to': 'x'}", "{'at': 92, 'size': 5, 'to': 'x'}"],
            ["{'at': 1, 'size': 7, 'to': 'x'}"],
            ["Error: x"],
        ),
        (
            ['{"text": "x", "created_at": "10:31:02"}'] * 2,
            ['{"text": "x", "created_at": "1"}'],
            ['{"text": "y", "created_at": "1"}'],
        ),
        (
            ['{"text": "a long text with a time of now in it, such as 10:31:02"}'] * 2,
            [],
            ['{"text": "another long text with a time of now in it, such as 10:31:02"}'],
        ),
        (['[{"n": 1}, {"n": 2}]'] * 2, [], ['[{"n": 2}, {"n": 1}]', '[{"n": 1}]']),
        (["[1, 2]"] * 2, ["[1,2]"], ["[1]"]),
        (
            ['{"zone": "UTC", "ok": true, "n": 1}'] * 2,
            ['{"ok": true, "n": 1, "zone": "UTC", "new": 1}'],
            ['{"zone": "UTC", "ok": true, "n": 2}', '{"zone": "UTC", "n": 1}'],
        ),
        (
            ['{"to": "x", "day": "odd", "now": "10:31:02"}'] * 2,
            ['{"to": "x", "day": "even", "now": "1"}'],
            ['{"to": "y", "day": "odd", "now": "1"}', '{"to": "x", "now": "1"}'],
        ),
        (['{"all": [{"n": 1}]}'] * 2, [], ['{"all": [{"n": 2}]}']),
        (
            ['{"ok": true, "item": {"name": "x", "n": 1, "created_at": "10:31:02"}}'] * 2,
            ['{"ok": true, "item": {"name": "x", "n": 1, "created_at": "1"}}'],
            ['{"ok": true, "item": {"name": "x", "n": 2, "created_at": "1"}}'],
        ),
        (
            ['[{"kind": "k", "n": 1, "created": "10:31:02"}, {"kind": "k", "n": 2, "created": "10:31:02"}]'] * 2,
            ['[{"kind": "k", "n": 2, "created": "10:31:03"}, {"kind": "k", "n": 1, "created": "10:31:02"}]'],
            ['[{"kind": "k", "n": 1, "created": "10:31:02"}]', '[{"kind": "k", "n": 1}, {"kind": "l", "n": 2}]'],
        ),
        (
            ['[{"n": 1, "created": "10:31:02.001+00:00"}, {"n": 2, "created": "10:31:02.002+00:00"}]'] * 2,
            [],
            ['[{"n": 2, "created": "10:31:02.001+00:00"}, {"n": 1, "created": "10:31:02.002+00:00"}]'],
        ),
    ],
)
def test_answers_are_checked_for_what_they_have_in_common(
    answers: list[str], fits: list[str], wrong: list[str]
) -> None:
    check = answer_check("target", Example("move", {"to": "x"}), answers)["expected"][0]
    assert (check["input"], check["exact"], check["fails"]) == ({"to": "x"}, True, False)
    assert all(matches(check["output"], as_json(one)) for one in (*answers, *fits))
    assert not any(matches(check["output"], as_json(one)) for one in wrong)


@pytest.mark.parametrize(
    ("name", "description", "takes", "given", "tells"),
    [
        ("clock", "Tell the current UTC time.", (), {}, True),
        ("days_in_month", "Count days.", ("date",), {}, True),
        ("days_in_month", "Count days.", ("date",), {"date": "2024-02-29"}, False),
        ("move", "Change the current folder.", ("timeout", "timezone"), {}, False),
    ],
)
def test_a_tool_tells_the_time_if_it_is_asked_for_it_or_given_no_date(
    name: str, description: str, takes: tuple[str, ...], given: dict[str, Any], tells: bool
) -> None:
    schema = {"type": "object", "properties": dict.fromkeys(takes, TEXT)}
    assert tells_time(Tool(name, description, schema), given) == tells


def test_a_tool_that_lists_the_values_of_a_parameter_for_times_does_not_tell_the_time() -> None:
    assert not tells_time(tool("payment", when={"enum": ["begin", "end"]}), {})


def test_numbers_of_an_answer_that_tells_the_time_may_differ_on_another_day() -> None:
    answers = ['{"in": "New York", "told": "week 48, 5 AM", "days": 30}'] * 2
    check = answer_check("target", Example("clock", {}), answers, of_now=True)["expected"][0]
    assert matches(check["output"], as_json('{"in": "New York", "told": "week 2, 11 PM", "days": 31}'))
    assert not matches(check["output"], as_json('{"in": "Tokyo", "told": "week 48, 5 AM", "days": 30}'))
    assert not matches(check["output"], as_json('{"in": "New York", "told": "day 48, 5 AM", "days": 30}'))
    relative = answer_check("target", Example("since", {"time": "1999"}), ["27 years ago"] * 2)["expected"][0]
    assert matches(relative["output"], "28 years ago")
    assert not matches(relative["output"], "in 27 years")


def test_numbers_that_a_suite_cannot_hold_may_be_any() -> None:
    answers = [json.dumps({"small": 1e18, "large": 1e22, "whole": 10**22})] * 2

    check = answer_check("target", Example("convert", {}), answers)["expected"][0]

    assert check["output"] == {"small": 1e18, "large": {"any": True}, "whole": {"any": True}}


def test_what_a_server_does_not_find_by_the_name_that_it_was_given_it_may_find_by_another_word() -> None:
    text = {"type": "string"}
    tools = [
        tool("add_note", ("title", "filename"), title=text, filename={**text, "examples": ["a_note"]}),
        tool("get_note", ("title",), title=text),
    ]

    def read(missing: list[Missing]) -> list[str]:
        return [one.input["title"] for one in examples(tools, [], (), missing) if one[0::2] == ("get_note", "")]

    assert read([])[:2] == ["first", "second"]
    assert read([Missing("get_note", "title", "first"), Missing("get_note", "title", "second")])[0] == "a_note"


def test_a_part_is_removed_before_the_whole_which_is_written_again_for_each() -> None:
    fact = {"type": "array", "items": {"type": "object", "properties": {"name": TEXT, "fact": TEXT}}}
    tools = [
        tool("store", ("title",), title=TEXT),
        tool("forget", ("title",), title=TEXT),
        tool("remove_facts", ("facts",), facts=fact),
    ]

    found = [one for one in examples(tools, []) if one.tries == ""]

    assert [one.tool for one in found][-7:] == ["store", *["remove_facts"] * 3, "store", *["forget"] * 2]


def test_names_inside_of_lists_are_tried_with_nothing_where_a_tool_writes_too() -> None:
    fact = {"type": "array", "items": {"type": "object", "properties": {"name": TEXT, "fact": TEXT}}}

    found = [one.input["facts"] for one in examples([tool("add_facts", ("facts",), facts=fact)], [])]

    assert [{"name": "no-such-name", "fact": "Ada has 42 points."}] in found


@pytest.mark.parametrize(("key", "hidden"), [("file_path", True), ("folder", True), ("title", False)])
def test_a_server_that_is_given_a_path_has_hidden_files_beside_the_samples(key: str, hidden: bool) -> None:
    names = workspace_files(["sample.txt"], [Example("read", {key: "sample.txt"})])
    assert (names[0], ".hidden.txt" in names) == ("sample.txt", hidden)


def test_folders_of_a_server_have_the_samples_too() -> None:
    assert workspace_files(["sample.csv"], [], ["data", "logs"]) == ("sample.csv", "data/sample.csv", "logs/sample.csv")


def test_a_file_is_written_below_folders_that_are_not_there_and_above_the_current_one_too() -> None:
    text = {"type": "string"}
    write = tool("write_file", ("path", "content"), path=text, content=text)
    assert {"new/inner/notes.txt", "inner/../notes.txt", "../notes.txt"} <= {
        one.input["path"] for one in examples([write], [])
    }


def test_one_more_parameter_is_tried_with_a_call_that_works() -> None:
    query = tool("read_query", ("query",), query={"type": "string"}, limit={"type": "integer"})
    first, second, *_ = examples([query], [])
    more = [one.input["query"] for one in examples([query], [], refused={first.key: "no"}) if "limit" in one.input]
    assert {*more} == {second.input["query"]}
    assert {one.input["query"] for one in examples([query], []) if "limit" in one.input} == {first.input["query"]}


def test_what_needs_no_input_is_asked_again_after_each_usual_call_of_another_tool() -> None:
    think = tool("think", ("thought",), thought={"type": "string"})
    names = [one.tool for one in examples([think, tool("summary")], []) if not one.tries]
    assert "think summary think summary" in " ".join(names)


def test_each_of_two_texts_is_given_in_turn() -> None:
    describe = tool("describe_table", ("table",), table={"type": "string"})
    assert {one.input["table"] for one in examples([describe], []) if not one.tries} == {"people", "first"}


def test_the_tool_of_a_server_with_one_gets_more_calls_than_one_of_three() -> None:
    one = tool("calculate", ("expression",), expression=TEXT)
    asked = [call.input["expression"] for call in examples([one], []) if call.tries == ""]
    assert len(asked) > 6
    assert "2^10" in asked
    three = [one, *(tool(name, ("title",), title=TEXT) for name in ("greet", "find"))]
    assert len([call for call in examples(three, []) if call.tool == "calculate" and call.tries == ""]) == 3


def test_references_in_a_schema_are_what_they_name() -> None:
    rule = {"type": "object", "properties": {"column": TEXT, "next": {"$ref": "#/$defs/Rule"}}, "required": ["column"]}
    asked = {"type": "object", "properties": {"rules": {"type": "array", "items": {"$ref": "#/$defs/Rule"}}}}
    whole = with_definitions({**asked, "$defs": {"Rule": rule}})
    assert whole["properties"]["rules"]["items"]["properties"]["next"]["required"] == ["column"]
    assert [one["column"] for one in made_value("rules", whole["properties"]["rules"], 0)][:2] == ["name", "score"]
    assert with_definitions(asked) == asked, "a reference that leads nowhere stays"


def test_samples_are_of_the_kinds_that_calls_name() -> None:
    calls = [Example("read", {"path": f"{HERE}sample.csv"}), Example("add", {"to": "notes.txt", "text": "a.b", "n": 1})]
    given = [*calls, *calls, Example("read", {"path": "new/sample.md"})]
    assert samples_of(given, ["no such file"]) == ("sample.csv", "notes.txt")
    assert samples_of(given, ["it is too large"]) == ()


def test_a_file_is_of_the_format_that_an_error_names() -> None:
    error = "Failed to read or parse JSON file: Unexpected token 'T' is not valid JSON"
    (call,) = with_files([Example("query", {"file": "sample.txt", "path": "$.name"})], [error])
    assert call.input == {"file": "sample.json", "path": "$.name"}
    assert samples_of([call], [error]) == ("sample.json",)


def test_values_are_paths_in_json_where_those_are_asked_for_and_texts_where_any_type_fits() -> None:
    assert shown_values({"type": "string", "description": "A JSONPath expression"})[0] == "$.name"
    assert isinstance(made_value("value", {"description": "What to set"}, 0), str)
    assert made_value("value", {"enum": [1, 2]}, 0) is None


def test_an_option_of_conditions_is_tried_with_one_at_a_time_and_with_none() -> None:
    condition = {"type": "object", "properties": {"op": {"type": "string", "enum": ["=", ">"]}}}
    query = tool("query", filters={"type": "array", "items": condition})
    given = [one.input["filters"] for one in examples([query], []) if "filters" in one.input]
    assert {json.dumps(one) for one in given} >= {'[{"op": ">"}]', '[{"op": "="}]', "[]"}


def test_a_list_of_files_is_of_those_that_were_written() -> None:
    text = {"type": "string"}
    tools = [
        tool("write", ("path", "content"), path=text, content=text),
        tool("read", ("path",), path=text),
        tool("merge", ("paths",), paths={"type": "array", "items": text}),
    ]
    merged = [one.input["paths"] for one in examples(tools, []) if one.tool == "merge"]
    assert merged[0] == ["sample.txt", "notes.txt"]


def test_names_of_files_in_a_list_get_the_suffix_that_an_error_lists() -> None:
    (call,) = with_files([Example("merge", {"paths": ["sample.txt", "notes.txt"]})], ["path must end in .csv or .tsv"])
    assert call.input == {"paths": ["sample.csv", "notes.csv"]}


NOTE = tool("create_note", ("title",), title=TEXT)
TASK = tool("create_task", ("title",), title=TEXT)
NEW_IDS = [("create_note", ["Note created with ID: a1", "Note created with ID: b2"])]


def test_tools_that_write_give_ids_if_these_differ_in_each_trial() -> None:
    keyed = tool("create_key", ("id",), id=TEXT)
    answers = [
        *NEW_IDS,
        ("create_task", ["id: 7", "id: 7"]),
        ("create_key", ['{"id": "a"}', '{"id": "b"}']),
        ("list_notes", ["ID: a1", "ID: b2"]),
    ]
    assert sources([NOTE, TASK, keyed, tool("list_notes")], answers) == ("create_note",)


def test_an_id_is_taken_from_an_answer_two_of_them_from_two_and_later_than_these_are_given() -> None:
    link = tool("create_link", ("source_id", "target_id"), source_id=TEXT, target_id=TEXT)
    found = examples([link, TASK, NOTE], [], sources=("create_task", "create_note"))
    linked = next(one for one in found if one.tool == "create_link")
    assert [one.get("back") for one in linked.input.values()] == [None, 1]
    of_both = tool("move", ("note_id", "task_id"), note_id=TEXT, task_id=TEXT)
    (moved, *_) = [one for one in examples([of_both], [], sources=("create_task", "create_note")) if not one.tries]
    assert [(one["answer_of"], one.get("back")) for one in moved.input.values()] == [
        *(("create_note", None), ("create_task", None))
    ]
    assert sum(one.tool == "create_task" for one in found[: found.index(linked)]) >= 2


def test_an_id_is_that_of_the_tool_which_is_named_like_it() -> None:
    get = tool("get", ("task_id",), task_id=TEXT)
    found = examples([get, NOTE, TASK], [], sources=("create_note", "create_task"))
    assert {one.input["task_id"]["answer_of"] for one in found if one.tool == "get" and not one.tries} == {
        "create_task"
    }
    assert NO_ID in [one.input["task_id"] for one in found if one.tool == "get"]


def test_an_id_that_is_taken_from_an_answer_may_be_any_in_a_check() -> None:
    call = Example("get", {"id": {"answer_of": "create_note", "match": "ID: (.*)"}, "form": "short"})
    check = answer_check("shelf", call, ["note a1", "note b2"])
    assert check["name"] == "get answers as before to an id, short"
    assert check["expected"][0]["input"] == {"id": {"any": True}, "form": "short"}


def test_lines_that_come_in_another_order_each_time_are_all_needed_and_ids_may_be_any() -> None:
    answers = ["2 notes:\n1. Ada (ID: a17)\n2. Bea (ID: b25)", "2 notes:\n1. Bea (ID: b31)\n2. Ada (ID: a32)"]
    check = answer_check("shelf", Example("list", {}), answers)["expected"][0]
    assert all(matches(check["output"], one) for one in (*answers, "2 notes:\n1. Bea (ID: x9)\n2. Ada (ID: y8)"))
    wrong = ("2 notes:\n1. Ada (ID: a17)", "2 notes:\n1. Ada (ID: a17)\n2. Cid (ID: b25)", "none")
    assert not any(matches(check["output"], one) for one in wrong)


def test_a_moment_in_an_answer_may_be_any_though_all_trials_were_in_the_same_hour() -> None:
    answers = [f"made 2026-11-30T13:5{second}:0{second}" for second in (1, 2)]
    check = answer_check("shelf", Example("list", {}), answers)["expected"][0]
    assert matches(check["output"], "made 2027-02-01T08:15:44")


def test_both_ends_of_a_link_are_read_by_the_ids_that_it_was_given() -> None:
    tools = [
        tool("create_note", ("title",), title=TEXT),
        tool("create_link", ("source_id", "target_id"), source_id=TEXT, target_id=TEXT),
        tool("get_note", ("note_id",), note_id=TEXT),
    ]
    calls = examples(tools, [], sources=["create_note"])
    linked = next(place for place, one in enumerate(calls) if one.tool == "create_link")
    read = [one.input["note_id"].get("back", 0) for one in calls[linked + 1 : linked + 3]]
    assert ([one.tool for one in calls[linked + 1 : linked + 3]], sorted(read)) == (["get_note"] * 2, [0, 1])


def test_what_changes_something_is_tried_with_an_empty_text_too() -> None:
    tools = [tool("create_note", ("title",), title=TEXT), tool("update_note", ("title",), title=TEXT, tags=TEXT)]
    assert "" in [one.input.get("tags") for one in examples(tools, []) if one.tool == "update_note"]


def test_a_tool_for_folders_gets_folders_and_a_target_has_a_name_of_its_own() -> None:
    tools = [
        tool("write_file", ("path", "content"), path=TEXT, content=TEXT),
        tool("create_directory", ("path",), path=TEXT),
        tool("list_files", ("path",), path=TEXT),
        tool("move_file", ("source", "destination"), source=TEXT, destination=TEXT),
        tool("delete_directory", ("path",), path=TEXT),
    ]
    usual = [one for one in with_files(examples(tools, []), ["paths must be absolute"]) if not one.tries]
    given = {name: {one.input.get("path", "") for one in usual if one.tool == name} for name in ("list_files",)}
    assert given == {"list_files": {HERE.rstrip("/"), f"{HERE}made"}}
    assert {one.input["path"] for one in usual if one.tool == "create_directory"} == {
        f"{HERE}made",
        f"{HERE}made/inner",
    }
    removed = [one.input["path"] for one in usual if one.tool == "delete_directory"]
    assert removed[:2] == [f"{HERE}made/inner", f"{HERE}made"]
    moved_to = [(one.input["source"], one.input["destination"]) for one in usual if one.tool == "move_file"]
    assert moved_to[0] == (f"{HERE}sample.txt", f"{HERE}move_file-0-target.txt")
    assert len({target for _, target in moved_to}) == len(moved_to)


def test_each_unit_of_a_conversion_is_given_once_on_both_sides() -> None:
    units = {"enum": [f"unit{number}" for number in range(20)]}
    tools = [tool(f"convert{number}", ("from", "to"), **{"from": units, "to": units}) for number in range(8)]
    calls = [one.input for one in examples(tools, []) if one.tool == "convert0" and one.tries in ("", "option")]
    assert {one["from"] for one in calls} == {one["to"] for one in calls} == {*units["enum"]}
    assert len(calls) < 35


def test_a_parameter_for_code_gets_some() -> None:
    values = [made_value("code", {"type": "string"}, turn) for turn in range(2)]
    assert values == ["print(6 * 7)", "'Ada' + 'Bea'"]
    assert made_value("postal_code", {"type": "string"}, 0) == "Ada has 42 points."
