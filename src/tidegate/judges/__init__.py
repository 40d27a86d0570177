"""The family of judges: one file, one line here, one entry in the docs and one test file for each."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from tidegate.judges.anthropic import AnthropicJudge
from tidegate.judges.command import CommandJudge
from tidegate.judges.scripted import ScriptedJudge

AnyJudge = Annotated[AnthropicJudge | CommandJudge | ScriptedJudge, Field(discriminator="type")]
"""Every judge that a suite can name, told apart by `type`."""
