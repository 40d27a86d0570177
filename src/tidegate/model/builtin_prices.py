"""Prices of known models, in USD per million tokens, as their providers published them.

Models whose price depends on the length of the request are left out, because a budget must not rely on the lower one.
"""

from __future__ import annotations

from typing import Final

from tidegate.model.price import Price

AS_OF: Final = "2026-10-31"


def _anthropic(given: float, said: float) -> Price:
    """Return the prices with the usual rates for the cache: a tenth for reading, a quarter more for writing."""
    return Price(input=given, output=said, cache_read=given / 10, cache_write=given * 1.25)


def _openai(given: float, said: float, cached: float) -> Price:
    return Price(input=given, output=said, cache_read=cached, cache_write=given)


BUILTIN_PRICES: Final = {
    "claude-opus-5-5": _anthropic(4, 20),
    **dict.fromkeys(("claude-opus-5", "claude-opus-4-7", "claude-opus-4-6", "claude-opus-4-5"), _anthropic(5, 25)),
    "claude-opus-4-1": _anthropic(15, 75),
    **dict.fromkeys(("claude-sonnet-5-5", "claude-sonnet-5"), _anthropic(2, 10)),
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
