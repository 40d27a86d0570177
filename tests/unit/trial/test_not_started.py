"""Why a tool or an MCP server did not start."""

from __future__ import annotations

from pathlib import Path

from tidegate.model.event import CommandResult
from tidegate.model.target import Target
from tidegate.trial.mcp.server_check import why_not
from tidegate.trial.start import missing_target


def test_a_tool_that_cannot_be_executed_is_told_from_one_that_is_missing(tmp_path: Path) -> None:
    tool = tmp_path / "notes"
    target, environment = Target(binary="notes"), {"PATH": str(tmp_path)}
    assert "there is no program `notes`" in str(missing_target(target, environment, tmp_path))
    tool.write_text("#!/bin/sh\n")
    assert "`notes` cannot be executed: run `chmod +x`" in str(missing_target(target, environment, tmp_path))
    tool.chmod(0o755)
    assert missing_target(target, environment, tmp_path) is None


# --- MCP servers


def test_the_line_with_the_error_is_kept_where_other_lines_follow() -> None:
    said = "Error: Cannot find module 'dist/server.js'\n    at Module._load\n  requireStack: []\n}\nNode.js v20\nexit 1"
    result = CommandResult(command="calc", end="exited", exit_code=1, stdout="", stderr=said, duration_s=0.1)
    reason = why_not("calc", result)
    assert reason.endswith("Error: Cannot find module 'dist/server.js' / requireStack: [] / } / Node.js v20")
