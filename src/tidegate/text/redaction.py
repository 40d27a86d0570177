"""Removes secrets from text: each known value, and the forms in which programs print it."""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from typing import TYPE_CHECKING, Any, TypeVar
from urllib.parse import quote, quote_plus

if TYPE_CHECKING:
    import regex
    from pydantic import BaseModel

    M = TypeVar("M", bound=BaseModel)


SHORTEST = 8  # characters; a shorter value is not a secret, and would match ordinary text
_NAMES = re.compile(r"^(?!GIT_CONFIG_KEY_).*(?:KEY|TOKEN|SECRET|PASSWORD|PASSWD|CREDENTIAL)", re.IGNORECASE)


def secret_variables(environ: Mapping[str, str]) -> dict[str, str]:
    """Return the variables whose names say that they hold a secret. Paths of files are none."""
    return {name: value for name, value in environ.items() if _NAMES.search(name) and not value.startswith("/")}


# What programs put between the characters of a long text, and JSON in front of some: removed before it is searched.
_BREAKS = re.compile(rb"(?<!\\)\\++[nrt]")
_BLANKS = b" \t\r\n\\"
_BETWEEN = rb"(?:[\s\\]|(?<=\\)[nrt])*"
# The same for hexadecimal text: `\x61`, `\u0061`, `&#x61;`, `0x61, 0x62`, `61:62`, `%61`, `=61`.
_MARKS = (b"\\x", b"\\u00", b"&#x", b"0x")
_SEPARATORS = _BLANKS + b":,;%=_.-"
_BETWEEN_PAIRS = rb"(?:[\s\\:,;%=_.-]|(?<=\\)[nrtx]|(?<=\\)u00|&#x|0x(?=[0-9a-f]))*"


class Redaction:
    """Replaces each secret's value with `[NAME]`. Variables that hold a URL are not secret."""

    def __init__(self, secrets: Mapping[str, str]) -> None:
        kept = {name: value for name, value in secrets.items() if len(value) >= SHORTEST and not name.endswith("_URL")}
        self._forms = {
            form.encode(): f"[{name}]".encode()
            for name, value in kept.items()
            for form in sorted(_forms(value), key=len, reverse=True)
        }
        self._names = {name: value.encode() for name, value in kept.items()}

    def __bool__(self) -> bool:
        """True if there is any secret to replace."""
        return bool(self._forms)

    def names_of(self, values: Iterable[str]) -> tuple[str, ...]:
        """Return the variables that have one of these values. Of several with one value, any may take its place."""
        known = {value.encode(errors="surrogatepass") for value in values}
        return tuple(name for name, value in self._names.items() if value in known)

    def text(self, text: str) -> str:
        """Return the text without the secrets."""
        whole = text.encode(errors="surrogatepass")
        clean = self.data(whole)
        return text if clean == whole else clean.decode(errors="surrogatepass")

    def data(self, data: bytes) -> bytes:
        """Return the bytes without the secrets: in each form, also in pieces with nothing but blanks in between."""
        if not self._forms:
            return data
        for form, name in self._forms.items():
            data = data.replace(form, name)
        joined, pairs = _joined(data), _pairs(data)
        for form, name in self._forms.items():
            if (short := _joined(form)) in joined:
                data = _pattern(short, 1, _BETWEEN).sub(name, data)
        for variable, value in self._names.items():
            if (digits := value.hex().encode()) in pairs:
                data = _pattern(digits, 2, _BETWEEN_PAIRS, re.IGNORECASE).sub(f"[{variable}]".encode(), data)
        return data


def _joined(data: bytes) -> bytes:
    """Return the data without line breaks, blanks and backslashes."""
    return _BREAKS.sub(b"", data).translate(None, _BLANKS)


def _pairs(data: bytes) -> bytes:
    """Return the data without what can stand between two bytes in hexadecimal."""
    data = _BREAKS.sub(b"", data.lower())
    for one in _MARKS:
        data = data.replace(one, b"")
    return data.translate(None, _SEPARATORS)


def _pattern(text: bytes, size: int, between: bytes, flags: int = 0) -> re.Pattern[bytes]:
    """Return a pattern of the text in pieces of so many bytes, with all of `between` in front of the others.

    Lookaheads, since possessive groups match wrongly before Python 3.11.5.
    """
    first, *others = (re.escape(text[at : at + size]) for at in range(0, len(text), size))
    gaps = (b"(?=(?P<g%d>%b))(?P=g%d)%b" % (at, between, at, piece) for at, piece in enumerate(others))
    return re.compile(first + b"".join(gaps), flags)


def _forms(value: str) -> set[str]:
    """Return the value unchanged, and as JSON, URL, hexadecimal and base64 text; each also within JSON text."""
    data = value.encode()
    encoded = {quote(value, safe=""), quote_plus(value), data.hex(), data.hex().upper(), *_base64(data)}
    printed = {value, *_in_json(value), *encoded}
    return printed.union(*map(_in_json, printed))


def _in_json(text: str) -> tuple[str, str]:
    return json.dumps(text)[1:-1], json.dumps(text, ensure_ascii=False)[1:-1]


def _base64(data: bytes) -> Iterator[str]:
    """Yield the base64 text of the data within longer data, at each of the three offsets and in both alphabets.

    Characters that also depend on the data before or after are left out.
    """
    for offset, first in ((0, 0), (1, 2), (2, 3)):
        shifted = b"\0" * offset + data
        last = len(shifted) * 8 // 6
        for encode in (base64.b64encode, base64.urlsafe_b64encode):
            yield encode(shifted).decode()[first:last]


MARK = "[secret]"
LEFT_OUT = "[left out: this text could not be searched for secrets]"
_SHORTEST_KNOWN = 20  # characters; no format is shorter
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
    if len(text) < _SHORTEST_KNOWN:
        return text
    try:
        for literals, pattern in _FORMATS:
            if literals[0] in text if len(literals) == 1 else _one_of(literals).search(text):
                text = _compiled(pattern).sub(MARK, text, timeout=seconds, concurrent=False)
    except Exception:  # whatever the reason, the text must not leave unsearched
        return LEFT_OUT
    return text


def without_secrets(value: M) -> M:
    """Return the value with `[secret]` for each key or token in its texts. Defaults are Tidegate's own texts."""
    text = value.model_dump_json(exclude_defaults=True)
    if masked_secrets(text) == text:
        return value
    return type(value).model_validate(_masked(value.model_dump(mode="json")))


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
