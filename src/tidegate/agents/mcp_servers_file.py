"""How agents are told of the MCP server that is the target."""

from __future__ import annotations

import json

from tidegate.model.agent import ServerScript


def servers_file(server: ServerScript) -> str:
    """The usual configuration file of clients: `{mcpServers: {NAME: {command, args}}}`."""
    return json.dumps({"mcpServers": {server.name: {"command": str(server.program), "args": []}}})
