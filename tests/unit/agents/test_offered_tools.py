"""Tools of any server as the API takes them."""

from __future__ import annotations

import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tidegate.agents.anthropic import offered
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
    assert offer.left_out == ()


def test_names_that_the_api_does_not_take_are_rewritten_and_found_again() -> None:
    names = ["admin.users.list", "admin users list", "läuft", "x" * 200, "x" * 201]
    offer = offered("s", map(tool, names))
    assert list(offer.names.values()) == names
    assert next(iter(offer.names)) == "mcp__s__admin_users_list"
    assert re.fullmatch(r"mcp__s__admin_users_list_[0-9a-f]{8}", list(offer.names)[1])
    assert {len(name) for name in list(offer.names)[3:]} == {64}


@pytest.mark.parametrize(
    "schema",
    [
        None,
        {"type": "array"},
        {"type": "object", "anyOf": []},
        {"type": "object", "properties": {"a b": {}}},
        {"type": "object", "properties": []},
        {"type": "object", "x": float("nan")},
        {"type": "object", "x": "\ud800"},
    ],
)
def test_a_tool_that_would_break_every_request_is_left_out(schema: Any) -> None:
    offer = offered("s", [tool("good"), tool("bad", schema)])
    assert (list(offer.names), offer.left_out) == (["mcp__s__good"], ("bad",))


@given(st.text(st.characters(codec="ascii"), max_size=12), st.lists(st.text(max_size=80)))
def test_whatever_they_are_called_names_are_valid_and_lead_back(server: str, names: list[str]) -> None:
    clean = re.sub(r"[^a-zA-Z0-9-]", "-", server) or "x"
    offer = offered(clean, map(tool, names))
    assert all(re.fullmatch(r"[a-zA-Z0-9_-]{1,64}", name) for name in offer.names)
    assert set(offer.names.values()) == set(names)
    assert [definition["name"] for definition in offer.definitions] == list(offer.names)
