"""Why an MCP server did not start, in one line."""

from tidegate.model.event import CommandResult
from tidegate.trial.mcp.server_check import why_not


def test_the_line_with_the_error_is_kept_where_other_lines_follow() -> None:
    said = "Error: Cannot find module 'dist/server.js'\n    at Module._load\n  requireStack: []\n}\nNode.js v20\nexit 1"
    result = CommandResult(command="calc", end="exited", exit_code=1, stdout="", stderr=said, duration_s=0.1)
    reason = why_not("calc", result)
    assert reason.endswith("Error: Cannot find module 'dist/server.js' / requireStack: [] / } / Node.js v20")
