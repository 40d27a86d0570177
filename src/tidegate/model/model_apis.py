"""The APIs of models that agents use: environment variables, addresses and allowed request paths."""

from __future__ import annotations

from tidegate.model.provider import ModelApi

ANTHROPIC = ModelApi(
    key="ANTHROPIC_API_KEY",
    endpoint="ANTHROPIC_BASE_URL",
    address="https://api.anthropic.com",
    paths=(r"(/v1)?/messages(/count_tokens)?", r"(/v1)?/models(/[\w.:-]+)?"),
)
OPENAI = ModelApi(
    key="OPENAI_API_KEY",
    endpoint="OPENAI_BASE_URL",
    address="https://api.openai.com/v1",
    paths=(r"/responses(/compact)?", r"/chat/completions", r"/models(/[\w.:-]+)?"),
)
GOOGLE = ModelApi(
    key="GEMINI_API_KEY",
    endpoint="GOOGLE_GEMINI_BASE_URL",
    address="https://generativelanguage.googleapis.com",
    paths=(r"/v1(beta|alpha)?/models(/[\w.-]+(:(generateContent|streamGenerateContent|countTokens))?)?",),
)

# Without a default address: the suite names the provider.
BEDROCK = ModelApi(
    key="AWS_BEARER_TOKEN_BEDROCK",
    endpoint="ANTHROPIC_BEDROCK_BASE_URL",
    address="",
    paths=(r"/model/[^/]+/(invoke(-with-response-stream)?|converse(-stream)?)",),
)
VERTEX_CLAUDE = ModelApi(
    key="ANTHROPIC_AUTH_TOKEN",
    endpoint="ANTHROPIC_VERTEX_BASE_URL",
    address="",
    paths=(),  # those that name the suite's project
)
VERTEX_GEMINI = ModelApi(
    key="GOOGLE_API_KEY",
    endpoint="GOOGLE_VERTEX_BASE_URL",
    address="",
    paths=(r"/v1(beta1)?/publishers/google/models/[\w.-]+:(generateContent|streamGenerateContent|countTokens)",),
)
FOUNDRY = ModelApi(
    key="ANTHROPIC_FOUNDRY_API_KEY",
    endpoint="ANTHROPIC_FOUNDRY_BASE_URL",
    address="",
    paths=ANTHROPIC.paths,
)
