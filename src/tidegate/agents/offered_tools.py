"""Convert an MCP server's tools to Anthropic's API, without those for which it would reject the whole request."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

from tidegate.model.agent import Tool

if TYPE_CHECKING:
    from anthropic.types import ToolParam

MAX_TOOLS = 512
MAX_BYTES = 1_000_000  # bytes of all definitions: about 250,000 tokens, more than most models take
MAX_NAME = 64  # characters; newer models accept twice as many
NAMES_SHOWN = 3  # names of omitted tools in a warning
_NO_NAME = re.compile(r"[^a-zA-Z0-9_-]")
_PROPERTY = re.compile(r"[a-zA-Z0-9_.-]{1,64}")
_CHOICES = ("oneOf", "allOf", "anyOf")  # the API accepts these only below the top level


class Offer(NamedTuple):
    """The tools offered to the model, the server's name of each by its offered name, and warnings for omitted tools."""

    definitions: tuple[ToolParam, ...]
    names: Mapping[str, str]
    warnings: tuple[str, ...]


def offered(server: str, tools: Iterable[Tool]) -> Offer:
    """Return the tools as `mcp__SERVER__TOOL`, in the server's order.

    Characters that a name must not contain become `_`. A name that is too long or already taken ends with a hash.
    """
    definitions: dict[str, ToolParam] = {}
    names: dict[str, str] = {}
    left_out: dict[str, list[str]] = {}
    size = 0
    for tool in tools:
        name = _name(server, tool.name, definitions)
        described = _definition(name, tool)
        length = len(json.dumps(described))
        why = _refused(tool, names.values(), len(definitions), size + length)
        if why is not None:
            left_out.setdefault(why, []).append(tool.name)
            continue
        definitions[name], names[name] = described, tool.name
        size += length
    warnings = tuple(f"the model is not offered {_listed(those)}: {why}" for why, those in left_out.items())
    return Offer(tuple(definitions.values()), names, warnings)


def _name(server: str, name: str, taken: Mapping[str, Any]) -> str:
    whole = f"mcp__{server}__{_NO_NAME.sub('_', name)}"
    if len(whole) <= MAX_NAME and whole not in taken:
        return whole
    mark = hashlib.sha256(name.encode()).hexdigest()[:8]
    return f"{whole[: MAX_NAME - len(mark) - 1]}_{mark}"


def _definition(name: str, tool: Tool) -> ToolParam:
    definition: ToolParam = {"name": name, "input_schema": tool.schema}
    return {**definition, "description": tool.description} if tool.description else definition


def _refused(tool: Tool, names: Iterable[str], count: int, size: int) -> str | None:
    """Return why the tool is left out: the API rejects it, or it exceeds a limit. None if it is offered."""
    if not tool.name:
        return "it has no name"
    if tool.name in names:
        return "the server offers another one of this name before"
    if (why := _bad_schema(tool.schema)) is not None:
        return why
    if count >= MAX_TOOLS:
        return f"it is offered {MAX_TOOLS} tools at most"
    return f"the descriptions of all tools may have {MAX_BYTES:,} bytes" if size > MAX_BYTES else None


def _bad_schema(schema: Any) -> str | None:
    if not isinstance(schema, dict) or schema.get("type") != "object":
        return "its `inputSchema` does not have the type `object`"
    if found := next((key for key in _CHOICES if key in schema), None):
        return f"its `inputSchema` has `{found}` at the top, which the API does not take"
    properties = schema.get("properties", {})
    if not isinstance(properties, dict) or not all(map(_PROPERTY.fullmatch, properties)):
        return "its `inputSchema` has a property whose name is not 1 to 64 of A-Z a-z 0-9 _ . -"
    try:
        json.dumps(schema, allow_nan=False, ensure_ascii=False).encode()
    except ValueError:
        return "its `inputSchema` contains a value that is not JSON (NaN, or half of a character)"
    return None


def _listed(names: list[str]) -> str:
    shown = [f"`{name[:MAX_NAME]}`" for name in names[:NAMES_SHOWN]]
    more = [f"{len(names) - NAMES_SHOWN:,} more tools"] if len(names) > NAMES_SHOWN else []
    *first, last = [*shown, *more]
    return f"{', '.join(first)} and {last}" if first else last
