"""What a request asks of a model's provider: at most how many tokens, and what the proxy does not pass on."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple
from urllib.parse import unquote

from pydantic_core import from_json

from tidegate.agents.model_proxy.answers import LETTERS, request_letters

UNLIMITED = 32_000  # tokens of an answer without a limit
_IN_PATH = re.compile(r"/model/([^/]+)|/models/([^/:]+)|/deployments/([^/]+)")
_LIMITS = ("max_tokens", "max_completion_tokens", "max_output_tokens", "maxOutputTokens", "maxTokens")
_SETTINGS = ("generationConfig", "inferenceConfig")  # where the limits of Google and of Bedrock are
_ANSWERS = ("n", "candidateCount")
_FETCHING_TOOLS = ("mcp", "web_fetch", "url_context")  # what their types begin with
_CALLS = ("mcp_call", "mcp_list_tools")  # of earlier answers
_FETCHING_KEYS = ("mcp_servers", "url_context", "urlContext")
_ADDRESSES = ("image_url", "file_url", "fileUri", "file_uri", "server_url")
# Data of the agent's own tools, which no provider reads as a request.
_DATA = ("input_schema", "parameters", "parametersJsonSchema", "args", "arguments", "response")


class Asked(NamedTuple):
    """The tokens of a request and of its longest answer, about; and why it is not passed on, or None."""

    given: int
    said: int
    refused: str | None = None


NOTHING = Asked(0, 0)


def read(body: bytes, path: str = "", *, may_ask: Callable[[str], bool] = lambda _: True, may_fetch: bool) -> Asked:
    """Return what a request to a model asks for: of no model that it may not ask.

    Unless it `may_fetch`, no provider fetches an address for it.
    """
    given = -(-request_letters(body) // LETTERS)
    try:
        request = from_json(body)
    except ValueError:
        return Asked(given, UNLIMITED)
    if not isinstance(request, dict):
        return Asked(given, UNLIMITED)
    settings = [request, *(found for name in _SETTINGS if isinstance(found := request.get(name), dict))]
    most = [found for one in settings for name in _LIMITS if isinstance(found := one.get(name), int)]
    times = [found for one in settings for name in _ANSWERS if isinstance(found := one.get(name), int)]
    refused = "a request in the background, whose tokens cannot be counted" if request.get("background") else None
    if other := [model for model in _models(request, path) if not may_ask(model)]:
        refused = f"a request to {other[0]}: `model` names another one"
    if refused is None and not may_fetch and (found := next(_fetched(request), None)) is not None:
        refused = f"{found}: the provider would fetch an address, which `network` does not allow the agent"
    return Asked(given, max(0, *(most or [UNLIMITED])) * max(1, *times, 1), refused)


def _models(request: dict[str, Any], path: str) -> list[str]:
    """Return the models that the request names."""
    named = [unquote(name) for groups in _IN_PATH.findall(path) for name in groups if name]
    return [*named, *(model for model in [request.get("model")] if isinstance(model, str))]


def _fetched(request: dict[str, Any]) -> Iterator[str]:
    """Yield what makes a provider fetch an address that the request names."""
    todo: list[Any] = [request]
    while todo:
        one = todo.pop()
        if isinstance(one, list):
            todo += one
        elif isinstance(one, dict):
            kind = str(one.get("type", ""))
            if kind.startswith(_FETCHING_TOOLS) and kind not in _CALLS:
                yield f"a tool of type {kind}"
            if kind == "url" and _is_remote(one.get("url")):
                yield "a file at an address"
            data = (*_DATA, "input") if kind.endswith("tool_use") else _DATA
            for name, value in one.items():
                if _makes_fetch(name, value):
                    yield name
                elif name not in data:
                    todo.append(value)


def _makes_fetch(name: str, value: Any) -> bool:
    if name in _FETCHING_KEYS:
        return value is not None and value != []
    return name in _ADDRESSES and _is_remote(value.get("url") if isinstance(value, dict) else value)


def _is_remote(address: Any) -> bool:
    return isinstance(address, str) and not address.startswith("data:")
