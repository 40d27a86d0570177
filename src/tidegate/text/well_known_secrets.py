"""Removes secrets that Tidegate does not know from text, by the formats that providers give their keys and tokens.

The formats are those that the providers document. The rules of gitleaks 8 and detect-secrets 1.5 were read for
comparison. Neither is used: gitleaks is not a Python package, and detect-secrets was last released in 2024, takes
0.25 s to import, and lacks several of these formats.

This is for text that leaves the job. Gates and comparisons use what was really printed.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    import regex
    from pydantic import BaseModel

    M = TypeVar("M", bound=BaseModel)

MARK = "[secret]"
LEFT_OUT = "[left out: this text could not be searched for secrets]"
SHORTEST = 20  # characters; no format is shorter
MANY = 100  # values of a field that are searched at once
MOST_SECONDS = 5.0  # per format and text

_KEY = r"[A-Z0-9 ]{0,24}PRIVATE KEY(?: BLOCK)?-----"
# Not the end of `task-`; but a character that is escaped in JSON, or a colour, may come before it.
_SK = r"sk-(?:(?<![A-Za-z0-9]sk-)|(?<=\\[bfnrt]sk-)|(?<=\\u00[01][0-9a-f]sk-)|(?<=[0-9]msk-))"

# Literal texts, of which each secret of the format contains one; and the format.
_FORMATS: tuple[tuple[tuple[str, ...], str], ...] = (
    (("AKIA", "ASIA"), r"A(?:KI|SI)A[A-Z0-9]{16}(?![A-Za-z0-9])"),  # AWS
    (("AccountKey=",), r"AccountKey=[A-Za-z0-9+/]{86}=="),  # Azure
    (("ghp_", "gho_", "ghu_", "ghs_", "ghr_"), r"gh[pousr]_\w{20,}(?:\.[\w-]+){0,2}"),  # GitHub
    (("github_pat_",), r"github_pat_\w{20,}"),
    (("glpat-", "gldt-", "glrt-", "glptt-", "glsoat-"), r"gl(?:pat|dt|rt|ptt|soat)-[\w.-]{20,}"),  # GitLab
    (("xox",), r"xox[abeoprs](?:\.xox[bp])?-[A-Za-z0-9-]{10,}"),  # Slack
    (("xapp-",), r"xapp-\d-[A-Za-z0-9-]{10,}"),
    (("hooks.slack.com/",), r"hooks\.slack\.com/(?:services|workflows|triggers)/[\w/-]{20,}"),
    (("k_live_", "k_test_"), r"[rs]k_(?:live|test)_[A-Za-z0-9]{16,}"),  # Stripe
    (("whsec_",), r"whsec_[A-Za-z0-9+/]{24,}"),
    (("sk-",), _SK + r"(?:(?:ant|proj|svcacct|admin|or)-[\w-]{16,}|[A-Za-z0-9]{32,})"),  # Anthropic, OpenAI, OpenRouter
    (("AIza",), r"AIza[\w-]{35}"),  # Google
    (("ya29.",), r"ya29\.[\w-]{20,}"),
    (("GOCSPX-",), r"GOCSPX-[\w-]{20,}"),
    (("npm_",), r"npm_[A-Za-z0-9]{36}"),
    (("pypi-",), r"pypi-[\w-]{50,}"),
    (("SG.",), r"SG\.[\w-]{16,}\.[\w-]{16,}"),  # SendGrid
    (("hf_",), r"hf_[A-Za-z0-9]{30,}"),  # Hugging Face
    (("hvs.",), r"hvs\.[\w-]{24,}"),  # Vault
    (("dckr_pat_",), r"dckr_pat_[\w-]{20,}"),  # Docker
    (("AGE-SECRET-KEY-1",), r"AGE-SECRET-KEY-1[A-Z0-9]{58}"),
    (("eyJ",), r"eyJ[\w-]{10,}\.eyJ[\w-]{10,}\.[\w-]*"),  # JSON Web Token
    (("PRIVATE KEY",), rf"-----BEGIN {_KEY}(?:[^\"'-]|-(?!----)){{0,20000}}(?:-----END {_KEY})?"),
    (("earer ",), r"earer \K[\w.~+/-]{16,}=*"),
)


def masked_secrets(text: str, seconds: float = MOST_SECONDS) -> str:
    """Return the text with `[secret]` for each key or token; a note instead of text that cannot be searched in time."""
    if len(text) < SHORTEST:
        return text
    try:
        for literals, pattern in _FORMATS:
            if literals[0] in text if len(literals) == 1 else _one_of(literals).search(text):
                text = _compiled(pattern).sub(MARK, text, timeout=seconds, concurrent=False)
    except Exception:  # whatever the reason, the text must not leave unsearched
        return LEFT_OUT
    return text


def without_secrets(value: M) -> M:
    """Return the value with `[secret]` for each key or token in its texts."""
    if all(masked_secrets(part) == part for part in _parts(value)):
        return value
    return type(value).model_validate(_masked(value.model_dump(mode="json")))


def _parts(value: BaseModel) -> Iterator[str]:
    """Yield the value as JSON, in parts: that of all trials of a run takes much memory.

    Defaults are left out: they are Tidegate's own texts.
    """
    fields = ((name, getattr(value, name)) for name in type(value).model_fields)
    long = {name: field for name, field in fields if isinstance(field, tuple) and _are_many_values(field)}
    yield value.model_dump_json(exclude=set(long), exclude_defaults=True)
    for field in long.values():
        for first in range(0, len(field), MANY):
            yield "\n".join(item.model_dump_json(exclude_defaults=True) for item in field[first : first + MANY])


def _are_many_values(items: tuple[Any, ...]) -> bool:
    return len(items) > MANY and all(hasattr(item, "model_dump_json") for item in items)


def _masked(value: Any) -> Any:
    match value:
        case str():
            return masked_secrets(value)
        case dict():
            return {_masked(name): _masked(item) for name, item in value.items()}
        case list():
            return [_masked(item) for item in value]
        case _:
            return value


@cache
def _one_of(literals: tuple[str, ...]) -> re.Pattern[str]:
    """Return a pattern that finds any of the texts, in the time in which `in` finds one if they begin alike."""
    return re.compile("|".join(map(re.escape, literals)))


@cache
def _compiled(pattern: str) -> regex.Pattern[str]:
    import regex  # takes 25 ms; most texts need no search

    return regex.compile(pattern, regex.ASCII)
