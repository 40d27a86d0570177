"""Prepare untrusted text for a prompt: anonymous, cut to a budget, and marked as data.

The judge must not learn which side, agent or model it reads. No text can end its data block, because the block's name
is a hash of the content, which the content cannot contain itself.
"""

from __future__ import annotations

import hashlib
import re
from functools import cache

from tidegate.agents.streams import STREAMS
from tidegate.text.redaction import masked_secrets
from tidegate.text.safe import printable
from tidegate.text.shorten import both_ends

MAX_PART = 4_000  # characters of one message or output
MAX_TEXT = 60_000  # characters of a whole transcript

_ABOVE = r"(?:/[^/\s'\"`<>|;:]{1,100}){0,12}"
_FOLDERS = re.compile(
    rf"{_ABOVE}/trials/(?:(?:base|head)/)?[^/\n]+/[^/\n]+/\d+/(workspace|home|tmp|record)(?![\w-])"
    rf"|{_ABOVE}/tidegate-\w+/(?:base|head|trials|prepared|agents)(?![\w-])"
)


def anonymous(text: str) -> str:
    """Return the text without folders that name a side or agent, names of models and agents, and well-known secrets."""
    text = _FOLDERS.sub(lambda found: f"/{found[1]}" if found[1] else "/checkout", text)
    return _models().sub("the-agent", masked_secrets(text))


@cache
def _models() -> re.Pattern[str]:
    """Return the pattern of the names of models and agents. It takes longer to compile than most modules to load."""
    names = "|".join(name for stream in STREAMS.values() for name in stream.names)
    after = r"(?:[ -](?:code|cli))?(?:[ -]\d[\w.-]*|-[a-z][\w.-]*)?(?![\w/]|\.\w)"
    return re.compile(rf"(?<![\w./-])(?:{names}){after}", re.IGNORECASE)


def fenced(name: str, text: str, limit: int = MAX_TEXT) -> str:
    """Return the text as a data block that its content cannot end."""
    body = both_ends(anonymous(printable(text)), limit)
    fence = hashlib.sha256(f"{name}\n{body}".encode(errors="replace")).hexdigest()[:16]
    return f"<data {fence} name={name}>\n{body}\n</data {fence}>"
