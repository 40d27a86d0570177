"""What the SDKs of MCP servers write about a refused call, as captured: TypeScript with Zod 3 and 4, Python, Go."""

from __future__ import annotations

import json

import pytest

from tests.unit.decide.causes.test_kinds import after, kinds, trial
from tidegate.model.result import FileChange

SEARCH = """graph search_nodes '{"query": "main", "limit": 5, "order": "asc"}'"""

TYPESCRIPT = "MCP error -32602: Input validation error: Invalid arguments for tool search_nodes: "  # 1.32, in lines

JOINED = "MCP error -32602: Tool 'search_nodes' parameter validation failed: "  # fastmcp, and others that join issues


def zod(*issues: dict[str, object], start: str = "Invalid arguments for tool search_nodes") -> str:
    return f"MCP error -32602: {start}: {json.dumps(issues, indent=2)}"


def pydantic(field: str, said: str, kind: str, value: str = "{'query': 'main', 'age': 3}") -> str:
    return (
        f"Error executing tool search_nodes: 1 validation error for search_nodesArguments\n{field}\n  {said} "
        f"[type={kind}, input_value={value}, input_type=dict]\n    For further information visit https://errors/{kind}"
    )


MISSING = [
    zod({"code": "invalid_type", "expected": "string", "received": "undefined", "path": ["q"], "message": "Required"}),
    zod(
        {
            "expected": "string",
            "code": "invalid_type",
            "path": ["q"],
            "message": "Invalid input: expected string, received undefined",
        },
        start="Input validation error: Invalid arguments for tool search_nodes",
    ),
    f"{TYPESCRIPT}Invalid input: expected string, received undefined at q",
    pydantic("q", "Field required", "missing"),
    pydantic("q", "Missing required argument", "missing_argument"),
    "Input validation error: 'q' is a required property",
    "1 validation error\nq\n  q is required",
    """validating "arguments": validating root: required: missing properties: ["q"]""",
    'required argument "q" not found',
    f"{JOINED}q: Required. Please check the types.",
    f"{JOINED}q: Invalid input: expected string, received undefined",
]


@pytest.mark.parametrize("message", MISSING)
def test_a_parameter_that_is_new_and_required(message: str) -> None:
    assert after(message, SEARCH) == ["`graph search_nodes` now requires `q`"]


@pytest.mark.parametrize("message", MISSING)
def test_a_required_parameter_that_replaces_another_one_in_the_code_is_a_rename(message: str) -> None:
    diff = "@@ -7 +7 @@\n-def search_nodes(query: str, limit: int = 5):\n+def search_nodes(q: str, limit: int = 5):\n"
    changes = (FileChange(path="server.py", role="watched", diff=diff),)
    base, head = [trial("base", (SEARCH, "ok", "found"))], [trial("head", (SEARCH, "error", message))]
    assert kinds(base, head, changes) == ["`graph search_nodes` no longer accepts `query`; `q` is new"]


@pytest.mark.parametrize(
    "message",
    [
        zod({"code": "unrecognized_keys", "keys": ["query"], "path": [], "message": "Unrecognized key(s): 'query'"}),
        zod({"code": "unrecognized_keys", "keys": ["query"], "path": [], "message": 'Unrecognized key: "query"'}),
        f'{TYPESCRIPT}Unrecognized key: "query"',
        pydantic("query", "Extra inputs are not permitted", "extra_forbidden", "'main'"),
        pydantic("query", "Unexpected keyword argument", "unexpected_keyword_argument", "'main'"),
        "Input validation error: Additional properties are not allowed ('query' was unexpected)",
        """validating "arguments": validating root: unexpected additional properties ["query"]""",
        "search_nodes() got an unexpected keyword argument 'query'",
        "unexpected property 'query'",
    ],
)
def test_a_parameter_that_is_refused(message: str) -> None:
    assert after(message, SEARCH) == ["`graph search_nodes` no longer accepts `query`"]


@pytest.mark.parametrize(
    "message",
    [
        zod({"received": "asc", "code": "invalid_enum_value", "options": ["up", "down"], "path": ["order"]}),
        zod({"code": "invalid_value", "values": ["up", "down"], "path": ["order"], "message": "Invalid option"}),
        f'{TYPESCRIPT}Invalid option: expected one of "up"|"down" at order',
        f"{JOINED}order: Invalid enum value. Expected 'up' | 'down', received 'asc'. Please check the types.",
        f'{JOINED}order: Invalid option: expected one of "up"|"down"',
        pydantic("order", "Input should be 'up' or 'down'", "literal_error", "'asc'"),
        pydantic("order", "Input should be 'up' or 'down'", "enum", "'asc'"),
        "Input validation error: 'asc' is not one of ['up', 'down']",
        """validating root: validating /properties/order: enum: asc does not equal any of: [up down]""",
    ],
)  # fmt: skip
def test_a_value_that_is_no_longer_accepted(message: str) -> None:
    said = "`graph search_nodes` no longer accepts the value `asc`; it accepts `up` and `down`"
    assert after(message, SEARCH) == [said]


@pytest.mark.parametrize(
    ("message", "kind"),
    [
        (zod({"code": "invalid_type", "expected": "string", "received": "number", "path": ["limit"]}), "string"),
        (zod({"code": "invalid_type", "expected": "array", "path": ["limit"], "message": "Invalid input"}), "array"),
        (pydantic("limit", "Input should be a valid list", "list_type", "5"), "list"),
        (f"{TYPESCRIPT}Invalid input: expected string, received number at limit", "string"),
        (f"{JOINED}limit: Expected string, received number", "string"),
        ("Input validation error: 5 is not of type 'string'", "string"),
        ('validating root: validating /properties/limit: type: 5 has type "integer", want "string"', "string"),
        ('argument "limit" is not a string', "string"),
    ],
)
def test_a_parameter_of_another_type(message: str, kind: str) -> None:
    assert after(message, SEARCH) == [f"`graph search_nodes` now needs `limit` to be of the type `{kind}`"]


@pytest.mark.parametrize(
    "message",
    [
        "MCP error -32602: Tool search_nodes not found",
        "Unknown tool: search_nodes",
        'unknown tool "search_nodes"',
        "tool 'search_nodes' not found: tool not found",
    ],
)
def test_a_tool_that_is_gone(message: str) -> None:
    assert after(message, SEARCH) == ["the MCP server `graph` no longer has the tool `search_nodes`"]


@pytest.mark.parametrize(
    "message",
    [
        "Error executing tool search_nodes: 'nodes'",
        "Error executing tool search_nodes: edge 'e1' is missing required field 'from'",
        "Cannot read properties of undefined (reading 'main')",
        "no main",
    ],
)
def test_an_error_that_names_no_parameter_is_quoted_and_no_word_of_it_is_taken_for_one(message: str) -> None:
    assert after(message, SEARCH) == [f"`graph search_nodes` now reports the error `{message}`"]


@pytest.mark.parametrize("message", ["MCP error -32000: Connection closed", "the server has ended: exit 1"])
def test_a_server_that_dies(message: str) -> None:
    assert after(message, SEARCH) == [f"the MCP server `graph` ends, or does not start: `{message}`"]


def test_a_server_without_a_name_is_not_called_target() -> None:
    assert after("Unknown tool: keep", "target keep '{}'") == ["the MCP server no longer has the tool `keep`"]
    assert after("boom", "target keep '{}'") == ["`keep` now reports the error `boom`"]


def test_of_several_problems_a_rename_comes_first() -> None:
    option = 'Invalid option: expected one of "up"|"down" at order'
    said = f"{TYPESCRIPT}{option}\nInvalid input: expected string, received undefined at q"
    assert after(said, SEARCH) == ["`graph search_nodes` now requires `q`"]


def test_a_value_inside_an_argument_is_found_by_its_path() -> None:
    call = """graph add '{"tasks": [{"title": "x", "kind": "t"}]}'"""
    option = 'Invalid option: expected one of "a"|"b" at tasks[0].kind'
    assert after(f"{TYPESCRIPT}{option}", call) == [
        "`graph add` no longer accepts the value `t`; it accepts `a` and `b`"
    ]
    gone = "Invalid input: expected string, received undefined at tasks[0].name"
    assert after(f"{TYPESCRIPT}{gone}", call) == ["`graph add` now requires `name`"]
    kind = pydantic("tasks.0.title", "Input should be a valid integer", "int_type", "'x'")
    assert after(kind, call) == ["`graph add` now needs `title` to be of the type `integer`"]
