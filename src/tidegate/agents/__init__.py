"""All agents, one file each, selected by `type`."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from tidegate.agents.anthropic import AnthropicAgent
from tidegate.agents.claude_code import ClaudeCodeAgent
from tidegate.agents.codex import CodexAgent
from tidegate.agents.command import CommandAgent
from tidegate.agents.doc_follower import DocFollower
from tidegate.agents.gemini import GeminiAgent
from tidegate.agents.opencode import OpenCodeAgent
from tidegate.agents.scripted import Scripted

__all__ = [
    "AnthropicAgent",
    "AnyAgent",
    "ClaudeCodeAgent",
    "CodexAgent",
    "CommandAgent",
    "DocFollower",
    "GeminiAgent",
    "OpenCodeAgent",
    "Scripted",
]

AnyAgent = Annotated[
    DocFollower  # one per line, so that a new one changes one line
    | Scripted
    | CommandAgent
    | ClaudeCodeAgent
    | CodexAgent
    | GeminiAgent
    | OpenCodeAgent
    | AnthropicAgent,
    Field(discriminator="type"),
]
