"""The agent `claude-code`."""

from __future__ import annotations

from typing import ClassVar, Literal

from pydantic import Field

from tidegate.agents.coding import AgentLaunch, CodingAgent, servers_file
from tidegate.agents.providers.clouds import AzureProvider, BedrockProvider, VertexProvider
from tidegate.agents.streams.claude_code import ClaudeCode
from tidegate.agents.streams.json_lines import JsonLines
from tidegate.model.agent import Session
from tidegate.model.provider import ANTHROPIC, BEDROCK, FOUNDRY, VERTEX_CLAUDE, ModelApi

_QUIET = (
    "DISABLE_TELEMETRY",
    "DISABLE_AUTOUPDATER",
    "DISABLE_ERROR_REPORTING",
    "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC",
)
# Tidegate isolates trials, and nested sandboxes fail. This overrides a project's settings.
_NO_SANDBOX = '{"sandbox": {"enabled": false}}'


class ClaudeCodeAgent(CodingAgent):
    """Claude Code, the program `claude`. Needs `ANTHROPIC_API_KEY`, or a `provider`.

    It may run commands and edit files in its workspace. It reads the project's guidance (`CLAUDE.md`, skills), but no
    personal settings. A trial that costs more than `max_usd` is ended.
    """

    type: Literal["claude-code"]
    max_usd: float | None = Field(default=None, gt=0)

    keeps_folder: ClassVar[bool] = True
    helpers: ClassVar[str] = r".*claude-(\d-\d-)?haiku-.*"
    program: ClassVar[str] = "claude"
    package: ClassVar[str] = "@anthropic-ai/claude-code"
    image_package: ClassVar[str] = "@anthropic-ai/claude-code-linux-x64"
    oldest: ClassVar[tuple[int, int, int]] = (2, 1, 197)
    tested: ClassVar[str] = "2.1.329"
    own_apis: ClassVar[tuple[ModelApi, ...]] = (ANTHROPIC, BEDROCK, VERTEX_CLAUDE, FOUNDRY)

    def launch(self, session: Session) -> AgentLaunch:
        """Pass the prompt on stdin, where it may be long."""
        options = {"--model": self.model, "--max-turns": session.max_turns, "--max-budget-usd": self.max_usd}
        chosen = [word for name, value in options.items() if value is not None for word in (name, str(value))]
        return AgentLaunch(
            argv=(
                *(self.program, "-p", "--output-format", "stream-json", "--verbose", *chosen),
                *self._tools(session),
                *("--setting-sources", "project", "--settings", _NO_SANDBOX, "--no-session-persistence", *self.args),
            ),
            env={
                **dict.fromkeys(_QUIET, "1"),
                "CLAUDE_CODE_MAX_RETRIES": "3",
                "CLAUDE_CONFIG_DIR": str(session.home / ".claude"),
                **self._cloud(),
                **self.own_environment(session),
            },
            stdin=session.prompt_file,
        )

    def _cloud(self) -> dict[str, str]:
        """Return the variables that select its mode. With SKIP, it does not try out models, which would cost."""
        match self.provider:
            case BedrockProvider() as provider:
                switches = ("CLAUDE_CODE_USE_BEDROCK", "CLAUDE_CODE_SKIP_BEDROCK_AUTH")
                return {**dict.fromkeys(switches, "1"), "AWS_REGION": provider.region}
            case VertexProvider() as provider:
                switches = ("CLAUDE_CODE_USE_VERTEX", "CLAUDE_CODE_SKIP_VERTEX_AUTH")
                place = {"ANTHROPIC_VERTEX_PROJECT_ID": provider.project, "CLOUD_ML_REGION": provider.region}
                return {**dict.fromkeys(switches, "1"), **place}
            case AzureProvider():
                return {"CLAUDE_CODE_USE_FOUNDRY": "1"}
            case _:
                return {}

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
