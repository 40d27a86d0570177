"""All providers of models, one file each, selected by `type`."""

from __future__ import annotations

from typing import Annotated

from tidegate.model.family import Family
from tidegate.model.provider import ModelProvider

PROVIDERS = Family(
    {
        "anthropic": "tidegate.providers.anthropic:AnthropicProvider",
        "openai": "tidegate.providers.openai:OpenAIProvider",
        "gemini": "tidegate.providers.gemini:GeminiProvider",
        "bedrock": "tidegate.providers.bedrock:BedrockProvider",
        "vertex": "tidegate.providers.vertex:VertexProvider",
        "azure": "tidegate.providers.azure:AzureProvider",
        "compatible": "tidegate.providers.compatible:CompatibleProvider",
    }
)
AnyProvider = Annotated[ModelProvider, PROVIDERS]
"""Every provider that a suite can name, selected by `type`."""
