"""Foreign text made fit for a prompt: without what tells who it was, cut to a budget, and fenced as data.

The judge must not know which side, agent or model it reads, and nothing inside of the fence can end it: the fence's
name is a hash of what it holds, which no text can hold itself.
"""

from __future__ import annotations

import hashlib
import re
import unicodedata

MAX_PART = 4_000  # characters of one message or output
MAX_TEXT = 60_000  # of a whole transcript

_ABOVE = r"(?:/[^/\s'\"`<>|;:]{1,100}){0,12}"
_FOLDERS = re.compile(
    rf"{_ABOVE}/trials/(?:(?:base|head)/)?[^/\n]+/[^/\n]+/\d+/(workspace|home|tmp|record)(?![\w-])"
    rf"|{_ABOVE}/tidegate-\w+/(?:base|head|trials|prepared|agents)(?![\w-])"
)
_MODELS = re.compile(
    r"(?<![\w./-])(?:claude|gpt|gemini|codex|opencode|o[134]|sonnet|opus|haiku)"
    r"(?:[ -](?:code|cli))?(?:[ -]\d[\w.-]*|-[a-z][\w.-]*)?(?![\w/]|\.\w)",
    re.IGNORECASE,
)
_SECRETS = re.compile(
    r"\b(?:sk-[\w-]{16,}|gh[pousr]_\w{20,}|github_pat_\w{20,}|AKIA[0-9A-Z]{16}|xox[abpr]-[\w-]{10,})"
    r"|(?<=Bearer )[\w.~+/-]{16,}"
)


def anonymous(text: str) -> str:
    """The text without folders that name a side or an agent, names of models and agents, and what looks like a key."""
    text = _FOLDERS.sub(lambda found: f"/{found[1]}" if found[1] else "/checkout", text)
    text = _SECRETS.sub("[secret]", text)
    return _MODELS.sub("the-agent", text)


def cut(text: str, limit: int) -> str:
    """At most about `limit` characters: what is too much is taken out of the middle, and said."""
    left_out = len(text) - limit
    if left_out <= 0:
        return text
    half = limit // 2
    return f"{text[:half]}\n[… {left_out} characters left out …]\n{text[-half:]}"


def clean(text: str) -> str:
    """Without control and invisible characters, which could hide words from a person and show them to a model."""
    return "".join(filter(_is_visible, text.replace("\r\n", "\n")))


def fenced(name: str, text: str, limit: int = MAX_TEXT) -> str:
    """The text as a block that cannot be left from inside."""
    body = cut(clean(anonymous(text)), limit)
    fence = hashlib.sha256(f"{name}\n{body}".encode(errors="replace")).hexdigest()[:16]
    return f"<data {fence} name={name}>\n{body}\n</data {fence}>"


def _is_visible(character: str) -> bool:
    return character in "\n\t" or unicodedata.category(character) not in ("Cc", "Cf", "Cs", "Co", "Cn")
