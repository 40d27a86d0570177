"""Names of models, as suites, agents and providers write them."""

from __future__ import annotations

import re

_DATE = re.compile(r"(?:[-@](?:20\d{6}|20\d\d-\d\d-\d\d|latest))$")


def bare_model(name: str) -> str:
    """Return a model's name without its provider and date: `claude-x-1` for `anthropic/Claude-X-1-20260131`."""
    return _DATE.sub("", name.rpartition("/")[2].lower())
