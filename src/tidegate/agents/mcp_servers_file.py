"""The configuration file that tells agents about the MCP server under test."""

from __future__ import annotations

import json

from tidegate.model.agent import ServerScript


def servers_file(server: ServerScript) -> str:
    """Return the common client configuration: `{mcpServers: {NAME: {command, args}}}`, or `{type, url}` of a server."""
    way = {"type": "sse" if server.is_sse else "http", "url": server.url}
    started = {"command": str(server.program), "args": []}
    return json.dumps({"mcpServers": {server.name: way if server.url else started}})
