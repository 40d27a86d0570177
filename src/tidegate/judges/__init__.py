"""All judges. A new judge is one file, one line here, one entry in the docs and one test file."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from tidegate.judges.anthropic import AnthropicJudge
from tidegate.judges.command import CommandJudge
from tidegate.judges.scripted import ScriptedJudge

AnyJudge = Annotated[AnthropicJudge | CommandJudge | ScriptedJudge, Field(discriminator="type")]
"""Every judge that a suite can name, selected by `type`."""
