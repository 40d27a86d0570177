"""The tool under test as an MCP server: its recording proxy, and a client for the built-in agent."""
