"""All providers of models, one file each, selected by `type`."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from tidegate.providers.anthropic import AnthropicProvider
from tidegate.providers.azure import AzureProvider
from tidegate.providers.bedrock import BedrockProvider
from tidegate.providers.compatible import CompatibleProvider
from tidegate.providers.gemini import GeminiProvider
from tidegate.providers.openai import OpenAIProvider
from tidegate.providers.vertex import VertexProvider

__all__ = [
    "AnthropicProvider",
    "AnyProvider",
    "AzureProvider",
    "BedrockProvider",
    "CompatibleProvider",
    "GeminiProvider",
    "OpenAIProvider",
    "VertexProvider",
]

AnyProvider = Annotated[
    AnthropicProvider
    | OpenAIProvider
    | GeminiProvider
    | BedrockProvider
    | VertexProvider
    | AzureProvider
    | CompatibleProvider,
    Field(discriminator="type"),
]
"""Every provider that a suite can name, selected by `type`."""
