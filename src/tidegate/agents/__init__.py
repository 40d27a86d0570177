"""All agents, one file each, selected by `type`."""

from __future__ import annotations

from typing import Annotated

from tidegate.model.agent import Agent
from tidegate.model.value import Family

AGENTS = Family(
    {
        "doc-follower": "tidegate.agents.doc_follower:DocFollower",
        "scripted": "tidegate.agents.scripted:Scripted",
        "command": "tidegate.agents.command:CommandAgent",
        "claude-code": "tidegate.agents.claude_code:ClaudeCodeAgent",
        "codex": "tidegate.agents.codex:CodexAgent",
        "gemini": "tidegate.agents.gemini:GeminiAgent",
        "opencode": "tidegate.agents.opencode:OpenCodeAgent",
        "anthropic": "tidegate.agents.anthropic:AnthropicAgent",
    }
)
AnyAgent = Annotated[Agent, AGENTS]
"""Every agent that a suite can name, selected by `type`."""
