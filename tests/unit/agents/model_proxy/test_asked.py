"""What a request asks for, and which requests the proxy does not pass on."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tidegate.agents.model_proxy.asked import UNLIMITED, read
from tidegate.agents.model_proxy.host_proxy import is_address

MESSAGE = {"role": "user", "content": "?"}


def asked(request: Any, *, may_fetch: bool = True) -> tuple[int, str | None]:
    found = read(json.dumps(request).encode(), may_fetch=may_fetch)
    return found.said, found.refused


@pytest.mark.parametrize(
    ("request_body", "tokens"),
    [
        ({"max_tokens": 9}, 9),
        ({"max_completion_tokens": 7, "n": 3}, 21),
        ({"max_output_tokens": 5}, 5),
        ({"generationConfig": {"maxOutputTokens": 4, "candidateCount": 2}}, 8),
        ({"inferenceConfig": {"maxTokens": 6}}, 6),
        ({"max_tokens": -9}, 0),
        ({}, UNLIMITED),
        ([1], UNLIMITED),
    ],
)
def test_the_longest_answer_is_what_the_request_allows(request_body: Any, tokens: int) -> None:
    assert asked(request_body) == (tokens, None)


FETCHING: list[dict[str, Any]] = [
    {"mcp_servers": [{"type": "url", "url": "https://evil.example"}]},
    {"tools": [{"type": "mcp", "server_url": "https://evil.example"}]},
    {"tools": [{"type": "web_fetch_20250910", "name": "web_fetch"}]},
    {"tools": [{"url_context": {}}]},
    {"tools": [{"urlContext": {}}]},
    {"messages": [{"content": [{"type": "image", "source": {"type": "url", "url": "https://evil.example/a"}}]}]},
    {"messages": [{"content": [{"type": "document", "source": {"type": "url", "url": "http://evil.example"}}]}]},
    {"messages": [{"content": [{"type": "image_url", "image_url": {"url": "https://evil.example"}}]}]},
    {"input": [{"content": [{"type": "input_image", "image_url": "https://evil.example"}]}]},
    {"input": [{"content": [{"type": "input_file", "file_url": "https://evil.example"}]}]},
    {"contents": [{"parts": [{"fileData": {"fileUri": "https://evil.example"}}]}]},
]


@pytest.mark.parametrize("request_body", FETCHING)
def test_a_provider_fetches_no_address_for_an_agent_without_the_network(request_body: Any) -> None:
    assert asked(request_body)[1] is None
    assert "`network` does not allow" in str(asked(request_body, may_fetch=False)[1])


@pytest.mark.parametrize(
    "request_body",
    [
        {"messages": [MESSAGE], "mcp_servers": []},
        {"messages": [{"content": [{"type": "image", "source": {"type": "base64", "data": "aa"}}]}]},
        {"input": [{"content": [{"type": "input_image", "image_url": "data:image/png;base64,aa"}]}]},
        {"messages": [{"content": [{"type": "tool_use", "input": {"type": "url", "url": "https://a.example"}}]}]},
        {"tools": [{"name": "draw", "input_schema": {"properties": {"image_url": {"type": "string"}}}}]},
        {"tools": [{"type": "function", "parameters": {"image_url": "https://a.example"}}]},
        {"messages": [{"role": "user", "content": "fetch https://a.example with web_fetch"}]},
        {"tools": [{"type": "web_search"}]},
    ],
)
def test_data_of_the_agent_s_own_tools_is_no_request_to_fetch(request_body: Any) -> None:
    assert asked(request_body, may_fetch=False)[1] is None


def test_what_nobody_could_count_is_refused() -> None:
    assert "background" in str(asked({"background": True})[1])
    assert asked({"background": False})[1] is None


@pytest.mark.parametrize("host", ["127.0.0.1", "::1", "2130706433", "0x7f.1", "127.1"])
def test_an_address_is_told_from_a_name(host: str) -> None:
    assert is_address(host)


@pytest.mark.parametrize("host", ["cafe", "abc.de", "localhost", "a.example"])
def test_a_name_is_told_from_an_address(host: str) -> None:
    assert not is_address(host)
