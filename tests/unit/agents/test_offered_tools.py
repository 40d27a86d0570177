"""Tools of any server as the API takes them."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tidegate.agents.anthropic import MAX_BYTES, MAX_TOOLS, offered
from tidegate.model.agent import Tool

SCHEMA = {"type": "object", "properties": {"title": {"type": "string"}}, "required": ["title"]}


def tool(name: str, schema: Any = SCHEMA, description: str = "") -> Tool:
    return Tool(name, description, schema)


def test_a_tool_is_offered_by_its_servers_name_and_its_own() -> None:
    offer = offered("shelf", [tool("add_book", description="Adds a book."), tool("list", {"type": "object"})])
    assert offer.definitions == (
        {"name": "mcp__shelf__add_book", "description": "Adds a book.", "input_schema": SCHEMA},
        {"name": "mcp__shelf__list", "input_schema": {"type": "object"}},
    )
    assert offer.names == {"mcp__shelf__add_book": "add_book", "mcp__shelf__list": "list"}
    assert offer.warnings == ()


def test_names_that_the_api_does_not_take_are_rewritten_and_found_again() -> None:
    names = ["admin.users.list", "admin users list", "läuft", "x" * 200, "x" * 201]
    offer = offered("s", map(tool, names))
    assert list(offer.names.values()) == names
    assert next(iter(offer.names)) == "mcp__s__admin_users_list"
    assert re.fullmatch(r"mcp__s__admin_users_list_[0-9a-f]{8}", list(offer.names)[1])
    assert {len(name) for name in list(offer.names)[3:]} == {64}


@pytest.mark.parametrize(
    ("tools", "why"),
    [
        ([tool("")], "``: it has no name"),
        ([tool("a"), tool("a", {"type": "object"})], "`a`: the server offers another one of this name before"),
        ([tool("a", None)], "`a`: its `inputSchema` does not have the type `object`"),
        ([tool("a", {"type": "array"})], "`a`: its `inputSchema` does not have the type `object`"),
        ([tool("a", {"type": "object", "anyOf": []})], "`a`: its `inputSchema` has `anyOf` at the top, which the API"),
        ([tool("a", {"type": "object", "properties": {"a b": {}}})], "`a`: its `inputSchema` has a property whose"),
        ([tool("a", {"type": "object", "properties": []})], "`a`: its `inputSchema` has a property whose"),
        ([tool("a", {"type": "object", "x": float("nan")})], "`a`: its `inputSchema` contains a value that"),
        ([tool("a", {"type": "object", "x": "\ud800"})], "`a`: its `inputSchema` contains a value that is not JSON"),
        ([tool("a", description="x" * MAX_BYTES)], "`a`: the descriptions of all tools may have 1,000,000 bytes"),
    ],
)
def test_what_would_break_every_request_is_left_out_and_said(tools: list[Tool], why: str) -> None:
    offer = offered("s", [tool("good"), *tools])
    assert "mcp__s__good" in offer.names
    assert len(offer.names) == len(tools)
    (warning,) = offer.warnings
    assert warning.startswith(f"the model is not offered {why}")


def test_thousands_of_tools_are_one_sentence() -> None:
    offer = offered("s", (tool(f"t{number}") for number in range(5000)))
    assert len(offer.definitions) == MAX_TOOLS
    said = "the model is not offered `t512`, `t513`, `t514` and 4,485 more tools: it is offered 512 tools at most"
    assert offer.warnings == (said,)


@given(st.text(st.characters(codec="ascii"), max_size=12), st.lists(st.text(max_size=80)))
def test_whatever_they_are_called_names_are_valid_and_lead_back(server: str, names: list[str]) -> None:
    clean = re.sub(r"[^a-zA-Z0-9-]", "-", server) or "x"
    offer = offered(clean, map(tool, names))
    assert all(re.fullmatch(r"[a-zA-Z0-9_-]{1,64}", name) for name in offer.names)
    assert set(offer.names.values()) == {name for name in names if name}
    assert [definition["name"] for definition in offer.definitions] == list(offer.names)
    json.dumps(offer.definitions, allow_nan=False).encode()
