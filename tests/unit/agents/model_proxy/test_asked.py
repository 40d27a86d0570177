"""What a request asks for, and which requests the proxy does not pass on."""

from __future__ import annotations

import json
from typing import Any

import pytest
from pydantic import TypeAdapter

from tidegate.agents import AnyAgent
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


@pytest.mark.parametrize(
    ("path", "request_body", "asks"),
    [
        ("/v1/messages", {"model": "big-1"}, "big-1"),
        ("/v1beta/models/big-1:streamGenerateContent", {"model": "own-1"}, "big-1"),
        ("/model/big-1%3A0/invoke", {}, "big-1:0"),
        ("/openai/deployments/big-1/chat/completions", {}, "big-1"),
    ],
)
def test_a_request_to_a_model_that_the_agent_may_not_ask_is_refused(path: str, request_body: Any, asks: str) -> None:
    body = json.dumps(request_body).encode()

    refused = read(body, path, may_ask=lambda model: model.startswith("own"), may_fetch=True).refused
    assert refused == f"a request to {asks}: `model` names another one"
    assert read(body, path, may_ask=lambda model: model in ("own-1", asks), may_fetch=True).refused is None


CLAUDE = "claude-opus-5-5"


@pytest.mark.parametrize(
    ("kind", "model", "asked_for", "may"),
    [
        ("claude-code", CLAUDE, CLAUDE, True),
        ("claude-code", f"{CLAUDE}[1m]", f"{CLAUDE}-20260101", True),
        ("claude-code", CLAUDE, "claude-haiku-5-5-20260101", True),
        ("claude-code", CLAUDE, "claude-mythos-5", False),
        ("claude-code", "claude-haiku-5-5", CLAUDE, False),
        ("claude-code", "opus", CLAUDE, True),
        ("claude-code", None, CLAUDE, True),
        ("claude-code", f"us.anthropic.{CLAUDE}-v1:0", f"us.anthropic.{CLAUDE}-v1:0", True),
        ("claude-code", "arn:aws:bedrock:x:1:application-inference-profile/a1", "arn:aws:x/a1", True),
        ("gemini", "gemini-3.8-pro", "gemini-2.5-flash-lite", True),
        ("gemini", "gemini-3.8-flash", "gemini-3.8-pro", False),
        ("codex", "gpt-5.5", "gpt-5.5-mini", True),
        ("codex", "gpt-5.5", "gpt-5.5-pro", False),
        ("opencode", f"anthropic/{CLAUDE}", CLAUDE, True),
        ("opencode", f"anthropic/{CLAUDE}", "claude-mythos-5", False),
    ],
)
def test_an_agent_asks_its_own_model_and_small_ones(kind: str, model: str | None, asked_for: str, may: bool) -> None:
    assert TypeAdapter(AnyAgent).validate_python({"type": kind, "model": model}).may_ask(asked_for) is may


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
