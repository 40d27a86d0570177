"""Prices of known models, in USD per million tokens, as their providers published them.

Writes to the cache are those that last 5 minutes, which agents use by default. Models whose price depends on the length
of the request are left out, except gpt-5.4 and gpt-5.5, which cost more only above 272,000 tokens.
"""

from __future__ import annotations

from typing import Final

from tidegate.model.price import Price

AS_OF: Final = "2026-10-24"
SOURCES: Final = ("platform.claude.com/docs/en/about-claude/pricing", "developers.openai.com/api/docs/pricing")


def _anthropic(given: float, said: float, read: float | None = None) -> Price:
    """Return the prices with the usual rates for the cache: a quarter more for writing, a tenth for reading."""
    return Price(input=given, output=said, cache_read=given / 10 if read is None else read, cache_write=given * 1.25)


def _openai(given: float, said: float, cached: float) -> Price:
    return Price(input=given, output=said, cache_read=cached, cache_write=given)


BUILTIN_PRICES: Final = {
    "claude-fable-5-1": _anthropic(10, 50, 0.25),
    "claude-fable-5": _anthropic(10, 50),
    "claude-opus-5-5": _anthropic(4, 20, 0.2),
    **dict.fromkeys(
        ("claude-opus-5", "claude-opus-4-8", "claude-opus-4-7", "claude-opus-4-6", "claude-opus-4-5"), _anthropic(5, 25)
    ),
    "claude-opus-4-1": _anthropic(15, 75),
    "claude-sonnet-5-5": _anthropic(2, 10, 0.1),
    "claude-sonnet-5": _anthropic(2, 10),
    **dict.fromkeys(("claude-sonnet-4-6", "claude-sonnet-4-5"), _anthropic(3, 15)),
    "claude-haiku-4-5": _anthropic(1, 5),
    "gpt-5.5": _openai(5, 30, 0.5),
    "gpt-5.4": _openai(2.5, 15, 0.25),
    "gpt-5.4-mini": _openai(0.75, 4.5, 0.075),
    "gpt-5.4-nano": _openai(0.2, 1.25, 0.02),
    **dict.fromkeys(("gpt-5.3-codex", "gpt-5.2-codex", "gpt-5.2"), _openai(1.75, 14, 0.175)),
    **dict.fromkeys(("gpt-5-codex", "gpt-5"), _openai(1.25, 10, 0.125)),
    "gpt-5-mini": _openai(0.25, 2, 0.025),
    "gpt-4.1": _openai(2, 8, 0.5),
}
