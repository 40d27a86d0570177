"""The gate `mcp_prompt`."""

from __future__ import annotations

from typing import Literal

from tidegate.checks.gates.fields import NonEmpty
from tidegate.checks.gates.server_gate import ServerGate
from tidegate.model.probe import AskServer


class McpPrompt(ServerGate):
    """Passes when the MCP server under test returns the prompt `name` for `input`, and its messages are as expected.

    The text is one line per message, `user: …`. Everything else is as in `mcp_resource`.
    """

    type: Literal["mcp_prompt"] = "mcp_prompt"
    name: NonEmpty
    input: dict[str, str] = {}

    def request(self) -> AskServer:
        """Ask for it."""
        return AskServer(what="prompt", name=self.name, input=self.input, timeout_secs=self.timeout_secs)
