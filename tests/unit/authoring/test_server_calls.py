"""Which calls of an MCP server a first suite makes, and what its checks accept."""

from __future__ import annotations

from typing import Any

import pytest

from tidegate.agents.scripted import signature
from tidegate.authoring.server_suite import Example, answer_checks, examples, surface_checks
from tidegate.checks.evaluators.matching import matches
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
    assert examples(tools, [readme]) == (
        Example("list", {}),
        Example("read", {"path": "a.txt"}),
        Example("convert", {"from": "UTC", "to": "CET"}),
        Example("mode", {"kind": "fast"}),
    )


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
    ("answers", "expected"),
    [
        (["Moved 3 files\nat 10:31", "Moved 3 files\nat 10:32"], {"regex": "(?s)Moved 3 files"}),
        (['{"zone": "UTC", "ok": true, "n": 1}'] * 2, {"zone": "UTC", "ok": True, "n": {"any": True}}),
        (['{"to": "x", "day": "odd", "now": "10:31"}'] * 2, {"to": "x", "day": {"any": True}, "now": {"any": True}}),
        (["a1b2c3d4", "e5f6a7b8"], None),
        (["[1]", "[1]"], None),
    ],
)
def test_answers_are_checked_for_what_they_have_in_common(answers: list[str], expected: Any) -> None:
    checks = [*answer_checks("target", Example("move", {"to": "x"}), answers)]
    assert [check["expected"][0]["output"] for check in checks] == ([] if expected is None else [expected])
    assert all(check["expected"][0]["input"] == {"to": "x"} for check in checks)


def test_an_answer_is_checked_by_what_it_lacks_in_another_state() -> None:
    """A heading stands in both, and tells nothing."""
    outputs = ["Changes:\nnotes.txt\n+Order more paper\n"] * 2
    call = Example("diff", {})
    (check,) = answer_checks("target", call, outputs, "Changes:\n")
    assert check["expected"][0]["output"] == {"regex": r"(?s)notes\.txt.*\+Order more paper"}
    assert [*answer_checks("target", call, ["Changes:\n"] * 2)] == []


def test_of_an_answer_with_an_id_the_start_is_checked() -> None:
    call = Example("commit", {})
    (check,) = answer_checks("target", call, ["committed as 1a2b3c4d5e\n", "committed as 9f8e7d6c5b\n"])
    assert check["expected"][0]["output"] == {"regex": "(?s)committed as"}
