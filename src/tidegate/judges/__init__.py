"""All judges. A new judge is one file, one line here, one entry in the docs and one test file."""

from __future__ import annotations

import re
from typing import Annotated

from pydantic import Field

from tidegate.judges.anthropic import AnthropicJudge
from tidegate.judges.command import CommandJudge
from tidegate.judges.google import GoogleJudge
from tidegate.judges.openai import OpenAIJudge
from tidegate.judges.scripted import ScriptedJudge

JUDGE_VARIABLE = "LLM_TOOL_TEST_JUDGE"  # the judge's model; llm-tool-test reads the same variable
AnyJudge = Annotated[
    AnthropicJudge | CommandJudge | GoogleJudge | OpenAIJudge | ScriptedJudge, Field(discriminator="type")
]
"""Every judge that a suite can name, selected by `type`."""


def judge_of_model(model: str) -> AnthropicJudge | GoogleJudge | OpenAIJudge:
    """Return a judge with that model: OpenAI's for `gpt-…` and `o3`, Google's for `gemini-…`, else Anthropic's."""
    if re.match(r"(gpt|chatgpt|o\d)\b", model):
        return OpenAIJudge(type="openai", model=model)
    if model.startswith("gemini"):
        return GoogleJudge(type="google", model=model)
    return AnthropicJudge(type="anthropic", model=model)
