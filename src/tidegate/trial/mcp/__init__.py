"""The target as an MCP server: its recorder, and a client for agents that have none."""
