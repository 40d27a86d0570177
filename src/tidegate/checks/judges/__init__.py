"""All judges. A new judge is one file, one line here, one entry in the docs and one test file."""

from __future__ import annotations

import re
from typing import Annotated

from pydantic import TypeAdapter

from tidegate.model.judge import Judge
from tidegate.model.value import Family

JUDGE_VARIABLE = "LLM_TOOL_TEST_JUDGE"  # the judge's model; llm-tool-test reads the same variable
JUDGES = Family(
    {
        "anthropic": "tidegate.checks.judges.provider:AnthropicJudge",
        "command": "tidegate.checks.judges.command:CommandJudge",
        "google": "tidegate.checks.judges.provider:GoogleJudge",
        "openai": "tidegate.checks.judges.provider:OpenAIJudge",
        "scripted": "tidegate.checks.judges.scripted:ScriptedJudge",
    }
)
AnyJudge = Annotated[Judge, JUDGES]
"""Every judge that a suite can name, selected by `type`."""
_PROVIDERS = ("anthropic", "google", "openai")
_JUDGE: TypeAdapter[Judge] = TypeAdapter(AnyJudge)


def judge_of_model(model: str) -> Judge:
    """Return a judge with that model: OpenAI's for `gpt-…` and `o3`, Google's for `gemini-…`, else Anthropic's.

    The provider may be before it: `openai/gpt-4o-mini`.
    """
    provider, _, rest = model.partition("/")
    if rest and provider in _PROVIDERS:
        return _JUDGE.validate_python({"type": provider, "model": rest})
    if re.match(r"(gpt|chatgpt|o\d)\b", model):
        kind = "openai"
    else:
        kind = "google" if model.startswith("gemini") else "anthropic"
    return _JUDGE.validate_python({"type": kind, "model": model})
