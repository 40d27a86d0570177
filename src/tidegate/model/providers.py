"""Model providers of coding agents: environment variables, addresses and allowed request paths."""

from __future__ import annotations

from tidegate.model.agent import Provider

ANTHROPIC = Provider(
    key="ANTHROPIC_API_KEY",
    endpoint="ANTHROPIC_BASE_URL",
    address="https://api.anthropic.com",
    paths=(r"(/v1)?/messages(/count_tokens)?", r"(/v1)?/models(/[\w.:-]+)?"),
)
OPENAI = Provider(
    key="OPENAI_API_KEY",
    endpoint="OPENAI_BASE_URL",
    address="https://api.openai.com/v1",
    paths=(r"/responses(/compact)?", r"/chat/completions", r"/models(/[\w.:-]+)?"),
)
GOOGLE = Provider(
    key="GEMINI_API_KEY",
    endpoint="GOOGLE_GEMINI_BASE_URL",
    address="https://generativelanguage.googleapis.com",
    paths=(r"/v1(beta|alpha)?/models(/[\w.-]+(:(generateContent|streamGenerateContent|countTokens))?)?",),
)
