"""Causes in the tools of an MCP server: a tool that is gone, or a parameter that is refused or new."""

from __future__ import annotations

import json
import re
from typing import Any

from tidegate.causes.seen import Found, Seen, named_in, words
from tidegate.model.measurement import Call, TrialResult

_NO_TOOL = re.compile(
    r"unknown tool|no such tool|tool .{0,80}not (?:found|exist|known|available)|-32601", re.IGNORECASE
)
_REFUSED = re.compile(
    r"unexpected|unknown|unrecogni|not (?:allowed|permitted|accepted|expected)|additional|extra", re.I
)
_REQUIRED = re.compile(r"required|missing|must (?:have|be given)", re.IGNORECASE)
# The reason of a missed check that `tidegate init` writes for a tool: the pattern begins with the tool's name.
_LISTED = re.compile(
    r".*; tools/list: output is .*, expected a match of \(\?m\)\^(?P<name>\S+?)\(\?!\\S\)(?P<rest>.*)$", re.DOTALL
)
_NAME = re.compile(r"['\"`]([A-Za-z_][\w-]*)['\"`]|\b([A-Za-z_]\w*) (?:is required|is missing|field required)")


def tool(seen: Seen) -> Found | None:
    """A tool that head's server does not have."""
    if seen.pair is None or arguments(seen.pair.head) is None or seen.pair.head.status != "error":
        return None
    server, name = words(seen.pair.head)[:2]
    if not _NO_TOOL.search(seen.pair.head.message):
        return None
    return Found("mcp_tool", f"the MCP server `{server}` no longer has the tool `{name}`", (name,))


def parameter(seen: Seen) -> Found | None:
    """A parameter that head's tool refuses, or one that it requires now."""
    if seen.pair is None or seen.pair.head.status != "error":
        return None
    given = arguments(seen.pair.head)
    if given is None:
        return None
    (server, name), message = words(seen.pair.head)[:2], seen.pair.head.message
    for key in given:
        if named_in(message, key) and _REFUSED.search(message):
            return Found("mcp_parameter", f"`{server} {name}` no longer accepts `{key}`", (key,))
    if _REQUIRED.search(message):
        asked = [one or other for one, other in _NAME.findall(message)]
        new = next((key for key in asked if key not in given and key != name), None)
        if new:
            return Found("mcp_parameter", f"`{server} {name}` now requires `{new}`", (new,))
    return None


def offer(seen: Seen) -> Found | None:
    """A tool that head's server no longer lists, or lists with other parameters, by a check of `tools/list`."""
    for check in seen.head[0].evaluators if seen.head else ():
        listed = _LISTED.match(check.reason)
        if listed is None or any(_score(trial, check.name) == 1 for trial in seen.head):
            continue
        if not seen.base or any(_score(trial, check.name) != 1 for trial in seen.base):
            continue
        name = re.sub(r"\\(.)", r"\1", listed["name"])
        if not listed["rest"]:
            return Found("mcp_tool", f"the MCP server no longer has the tool `{name}`", (name,))
        return Found("mcp_parameter", f"the parameters of the tool `{name}` changed", (name,))
    return None


def _score(trial: TrialResult, name: str) -> float | None:
    return next((check.score for check in trial.evaluators if check.name == name), None)


def arguments(call: Call) -> dict[str, Any] | None:
    """Return the arguments of an MCP tool call; None for a call of a program.

    A tool call is recorded as server, tool and one JSON object.
    """
    parts = words(call)
    if len(parts) != 3 or not parts[2].startswith("{"):
        return None
    try:
        given = json.loads(parts[2])
    except ValueError:
        return None
    return given if isinstance(given, dict) else None
