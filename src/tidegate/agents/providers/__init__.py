"""All providers of models, for agents and judges, selected by `type`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated

from tidegate.model.provider import ModelApi, ModelProvider
from tidegate.model.value import Family

PROVIDERS = Family(
    {
        "anthropic": "tidegate.agents.providers.keyed:AnthropicProvider",
        "openai": "tidegate.agents.providers.keyed:OpenAIProvider",
        "gemini": "tidegate.agents.providers.keyed:GeminiProvider",
        "bedrock": "tidegate.agents.providers.clouds:BedrockProvider",
        "vertex": "tidegate.agents.providers.clouds:VertexProvider",
        "azure": "tidegate.agents.providers.clouds:AzureProvider",
        "compatible": "tidegate.agents.providers.keyed:CompatibleProvider",
    }
)
AnyProvider = Annotated[ModelProvider, PROVIDERS]
"""Every provider that a suite can name, selected by `type`."""


def types_with(usable: Sequence[ModelApi]) -> str:
    """Return the types of the providers that have one of the APIs, for a message: `gemini or vertex`."""
    members = PROVIDERS.members.items()
    return " or ".join(kind for kind, one in members if issubclass(one, ModelProvider) and one.api_of(usable))
