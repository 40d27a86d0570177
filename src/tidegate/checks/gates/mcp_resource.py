"""The gate `mcp_resource`."""

from __future__ import annotations

from typing import Literal

from tidegate.checks.gates.fields import NonEmpty
from tidegate.checks.gates.server_gate import ServerGate
from tidegate.model.probe import AskServer


class McpResource(ServerGate):
    """Passes when the MCP server under test has the resource `uri`, and its text is as expected.

    After the agent has ended, the server is started in the workspace and asked in a session of its own, which counts in
    no metric. `substring` must be part of the text. `path` and `assertion` are those of `command_json_path`, for text
    that is JSON. With `must_fail: true` the server has to answer with an error.
    """

    type: Literal["mcp_resource"] = "mcp_resource"
    uri: NonEmpty

    def request(self) -> AskServer:
        """Ask for it."""
        return AskServer(what="resource", name=self.uri, timeout_secs=self.timeout_secs)
