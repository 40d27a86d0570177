"""A call of an MCP server's tool that a first suite tries."""

from __future__ import annotations

import json
from typing import Any, Literal, NamedTuple


class Example(NamedTuple):
    """A call of a tool with its input.

    `tries`: one more parameter, or a value that a server may refuse: it is odd, or names nothing. `unknown`: no other
    value is known for the tool.
    """

    tool: str
    input: dict[str, Any]
    tries: Literal["", "option", "odd", "unknown"] = ""

    @property
    def key(self) -> str:
        """What tells it from calls of other tools, or with other input."""
        return json.dumps([self.tool, self.input], sort_keys=True)


class Missing(NamedTuple):
    """What a tool did not find by this name, which another tool had been given."""

    tool: str
    name: str
    value: Any
