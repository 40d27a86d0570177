"""The agent `claude-code`."""

from __future__ import annotations

from typing import ClassVar, Literal

from pydantic import Field

from tidegate.agents.coding import CodingAgent, Launch
from tidegate.agents.mcp_servers_file import servers_file
from tidegate.model.agent import Provider, Session
from tidegate.model.providers import ANTHROPIC
from tidegate.streams.claude_code import ClaudeCode
from tidegate.streams.json_lines import JsonLines

_QUIET = (
    "DISABLE_TELEMETRY",
    "DISABLE_AUTOUPDATER",
    "DISABLE_ERROR_REPORTING",
    "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC",
)
# Tidegate isolates trials, and nested sandboxes fail. This overrides a project's settings.
_NO_SANDBOX = '{"sandbox": {"enabled": false}}'


class ClaudeCodeAgent(CodingAgent):
    """Claude Code, the program `claude`. Needs `ANTHROPIC_API_KEY`.

    It may run commands and edit files in its workspace. It reads the project's guidance (`CLAUDE.md`, skills), but no
    personal settings. A trial that costs more than `max_usd` is ended.
    """

    type: Literal["claude-code"]
    max_usd: float | None = Field(default=None, gt=0)

    keeps_folder: ClassVar[bool] = True
    program: ClassVar[str] = "claude"
    package: ClassVar[str] = "@anthropic-ai/claude-code"
    image_package: ClassVar[str] = "@anthropic-ai/claude-code-linux-x64"
    oldest: ClassVar[tuple[int, int, int]] = (2, 1, 197)
    tested: ClassVar[str] = "2.1.329"

    @property
    def provider(self) -> Provider:
        """The provider of its models."""
        return ANTHROPIC

    def launch(self, session: Session) -> Launch:
        """Pass the prompt on stdin, where it may be long."""
        options = {"--model": self.model, "--max-turns": session.max_turns, "--max-budget-usd": self.max_usd}
        chosen = [word for name, value in options.items() if value is not None for word in (name, str(value))]
        return Launch(
            argv=(
                *(self.program, "-p", "--output-format", "stream-json", "--verbose", *chosen),
                *self._tools(session),
                *("--setting-sources", "project", "--settings", _NO_SANDBOX, "--no-session-persistence", *self.args),
            ),
            env={
                **dict.fromkeys(_QUIET, "1"),
                "CLAUDE_CODE_MAX_RETRIES": "3",
                "CLAUDE_CONFIG_DIR": str(session.home / ".claude"),
                **self.own_environment(session),
            },
            stdin=session.prompt_file,
        )

    def _tools(self, session: Session) -> tuple[str, ...]:
        """Return the options for the tools that need no permission. The only MCP server is the one under test."""
        server = session.server
        if server is None:
            return "--allowedTools", "Bash,Edit,Write", "--strict-mcp-config"
        file = session.home_file("mcp.json", servers_file(server))
        return "--allowedTools", f"Bash,Edit,Write,mcp__{server.name}", "--mcp-config", str(file), "--strict-mcp-config"

    def stream(self, session: Session) -> JsonLines:
        """Its output has everything."""
        return ClaudeCode()
