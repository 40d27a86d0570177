"""Removes secrets from text: each known value, and the forms in which programs print it."""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Iterator, Mapping
from functools import cached_property
from urllib.parse import quote, quote_plus

SHORTEST = 8  # characters; a shorter value is not a secret, and would match ordinary text
_NAMES = re.compile(r"^(?!GIT_CONFIG_KEY_).*(?:KEY|TOKEN|SECRET|PASSWORD|PASSWD|CREDENTIAL)", re.IGNORECASE)


def secret_variables(environ: Mapping[str, str]) -> dict[str, str]:
    """Return the variables whose names say that they hold a secret. Paths of files are none."""
    return {name: value for name, value in environ.items() if _NAMES.search(name) and not value.startswith("/")}


class Redaction:
    """Replaces each secret's value with `[NAME]`. Variables that hold a URL are not secret."""

    def __init__(self, secrets: Mapping[str, str]) -> None:
        self._forms = {
            form: f"[{name}]"
            for name, value in secrets.items()
            if len(value) >= SHORTEST and not name.endswith("_URL")
            for form in sorted(_forms(value), key=len, reverse=True)
        }

    def __bool__(self) -> bool:
        """True if there is any secret to replace."""
        return bool(self._forms)

    def text(self, text: str) -> str:
        """Return the text without the secrets."""
        for form, name in self._forms.items():
            text = text.replace(form, name)
        return text

    def data(self, data: bytes) -> bytes:
        """Return the bytes without the secrets."""
        for form, name in self._encoded:
            data = data.replace(form, name)
        return data

    @cached_property
    def _encoded(self) -> list[tuple[bytes, bytes]]:
        return [(form.encode(), name.encode()) for form, name in self._forms.items()]


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
