"""Which calls of an MCP server a first suite makes, and what its checks accept."""

from __future__ import annotations

from typing import Any

import pytest

from tidegate.agents.scripted import signature
from tidegate.authoring.server_suite import Example, answer_checks, examples, made_value, surface_checks
from tidegate.checks.evaluators.matching import as_json, matches
from tidegate.model.agent import Tool


def tool(name: str, required: tuple[str, ...] = (), hints: dict[str, Any] | None = None, **properties: Any) -> Tool:
    schema = {"type": "object", "properties": properties, "required": list(required)}
    return Tool(name, "", schema, hints or {})


READ = tool("read", ("path",), path={"type": "string"}, head={"type": "number"})


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
    found = examples(tools, [readme])
    assert [one for one in found if one.known] == [
        Example("list", {}),
        Example("read", {"path": "a.txt"}),
        Example("convert", {"from": "UTC", "to": "CET"}),
        Example("mode", {"kind": "fast"}),
    ]
    assert {one.tool for one in found} == {"list", "read", "convert", "mode", "guess"}


@pytest.mark.parametrize(
    ("name", "schema", "first", "second"),
    [
        ("minuend", {"type": "number"}, 7, 3),
        ("count", {"anyOf": [{"type": "integer"}, {"type": "null"}]}, 7, 3),
        ("numbers", {"type": "array", "items": {"type": "number"}}, [7, 3, 0.5, 2, 7], [3, 0.5, 2, -2.6, 3]),
        ("flag", {"type": "boolean"}, True, False),
        ("file_path", {"type": "string"}, "sample.txt", "sample.txt"),
        ("url", {"type": "string"}, None, None),
        ("other", {"type": "object"}, None, None),
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
        (["Moved by 1a2b3c4d5e", "Moved by 9f8e7d6c5b"], ["anything"], []),
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
    ],
)
def test_answers_are_checked_for_what_they_have_in_common(
    answers: list[str], fits: list[str], wrong: list[str]
) -> None:
    checks = [*answer_checks("target", Example("move", {"to": "x"}), answers)]
    outputs = [check["expected"][0]["output"] for check in checks]
    assert all(check["expected"][0]["input"] == {"to": "x"} for check in checks)
    assert all(matches(output, as_json(one), subset=True) for output in outputs for one in (*answers, *fits))
    assert not any(matches(output, as_json(one), subset=True) for output in outputs for one in wrong)
    assert bool(outputs) == bool(wrong)
