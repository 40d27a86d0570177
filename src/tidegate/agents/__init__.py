"""The family of agents: one file each, told apart by `type`."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from tidegate.agents.command import CommandAgent
from tidegate.agents.doc_follower import DocFollower
from tidegate.agents.scripted import Scripted

__all__ = ["NOT_YET", "AnyAgent", "CommandAgent", "DocFollower", "Scripted"]

AnyAgent = Annotated[DocFollower | Scripted | CommandAgent, Field(discriminator="type")]

NOT_YET = ("claude-code", "codex", "gemini", "opencode", "anthropic", "replay")
"""The types that the design names and that are not here yet, so that the loader can say just that."""
