"""Names of models, as suites, agents and providers write them."""

from __future__ import annotations

import re

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
