"""The gate `mcp_call`."""

from __future__ import annotations

from typing import Any, Literal

from tidegate.checks.gates.fields import NonEmpty
from tidegate.checks.gates.server_gate import ServerGate
from tidegate.model.probe import AskServer


class McpCall(ServerGate):
    """Passes when a call of `tool` with `input` succeeds, and its answer is as expected.

    The answer is the structured content if there is some, else the text. `must_fail: true` is for calls that the server
    has to refuse. Everything else is as in `mcp_resource`.
    """

    type: Literal["mcp_call"] = "mcp_call"
    tool: NonEmpty
    input: dict[str, Any] = {}

    def request(self) -> AskServer:
        """Ask for it."""
        return AskServer(what="tool", name=self.tool, input=self.input, timeout_secs=self.timeout_secs)
