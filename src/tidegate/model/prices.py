"""What models cost, and which names mean the same model."""

import re
from typing import Final

from pydantic import Field

from tidegate.model.value import Value

_DATE = re.compile(r"[-@](?:20\d{6}|20\d\d-\d\d-\d\d|latest)$")
_REVISION = re.compile(r"(?:-v\d+:\d+|:(?:beta|extended|floor|free|nitro|online|thinking))$")  # of Bedrock, of routers
_VENDOR = re.compile(r"^(?:[a-z-]{2,6}\.)?(?:anthropic|openai|google|meta|mistral)\.(?=[a-z])")  # of Bedrock
_DOTTED = re.compile(r"(?<=\d)\.(?=\d)")
_ALIASES = frozenset({"opus", "sonnet", "haiku"})  # Claude Code's names for the newest model of a family


def bare_model(name: str) -> str:
    """Return a model's name without its provider, date and revision.

    `claude-x-1` for `anthropic/Claude-X-1-20260131`, `us.anthropic.claude-x-1-20260131-v1:0` and `claude-x.1`.
    """
    plain = _VENDOR.sub("", name.rpartition("/")[2].lower())
    plain = _DATE.sub("", _REVISION.sub("", plain))
    return _DOTTED.sub("-", plain) if plain.startswith("claude") else plain


def same_model(one: str, other: str) -> bool:
    """Return True if both names can be of one model; an alias such as `sonnet` can be any model of its family."""
    names = {bare_model(one), bare_model(other)}
    if len(names) == 1:
        return True
    return any(name in _ALIASES and any(name in rest.split("-") for rest in names - {name}) for name in names)


class Price(Value):
    """A model's prices in USD per million tokens."""

    input: float = Field(default=0, ge=0)
    output: float = Field(default=0, ge=0)
    cache_read: float = Field(default=0, ge=0)
    cache_write: float = Field(default=0, ge=0)


# As of 2026-10-24, from platform.claude.com/docs/en/about-claude/pricing and developers.openai.com/api/docs/pricing.


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
