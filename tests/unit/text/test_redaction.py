"""Secrets are removed from text, in every form in which programs print them."""

from __future__ import annotations

import base64
import json
from collections.abc import Callable
from urllib.parse import quote, quote_plus

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tidegate.text.redaction import Redaction, secret_variables

SECRET = 'sk-live "ü/+42"?&x=1'
FORMS: dict[str, Callable[[str], str]] = {
    "plain": str,
    "JSON": lambda text: json.dumps(text),
    "JSON with letters": lambda text: json.dumps(text, ensure_ascii=False),
    "URL": lambda text: quote(text, safe=""),
    "form": quote_plus,
    "hexadecimal": lambda text: text.encode().hex(),
    "base64": lambda text: base64.b64encode(text.encode()).decode(),
    "base64 for URLs": lambda text: base64.urlsafe_b64encode(text.encode()).decode(),
}


@pytest.mark.parametrize("form", FORMS.values(), ids=FORMS)
def test_a_secret_is_removed_in_every_form(form: Callable[[str], str]) -> None:
    redaction = Redaction({"THE_KEY": SECRET})
    printed = f"before {form(SECRET)} after"
    assert redaction.text(printed).replace("=", "").replace('"', "").startswith("before [THE_KEY]")
    assert redaction.data(printed.encode()) == redaction.text(printed).encode()
    assert redaction.text(printed).endswith(" after")


@given(st.binary(max_size=40), st.binary(max_size=40), st.sampled_from([base64.b64encode, base64.urlsafe_b64encode]))
def test_base64_hides_no_secret_at_any_offset(before: bytes, after: bytes, encode: Callable[[bytes], bytes]) -> None:
    whole = encode(before + b"0123456789abcdef" + after)
    left = Redaction({"THE_KEY": "0123456789abcdef"}).data(whole).replace(b"[THE_KEY]", b"")
    assert len(left) <= len(whole) - 16 * 8 // 6 + 2  # the two characters that the neighbours have a part in


def test_what_is_no_secret_stays() -> None:
    text = "seven77 https://example.org /home/me/token"
    secrets = {"SHORT_KEY": "seven77", "MODEL_URL": "https://example.org"}
    assert Redaction(secrets).text(text) == text


def test_the_names_of_variables_say_which_are_secret() -> None:
    environ = {"GITHUB_TOKEN": "t1", "Api_Key": "t2", "DB_PASSWORD": "t3", "SSH_KEY_FILE": "/root/.ssh/id", "LANG": "C"}
    environ["GIT_CONFIG_KEY_0"] = "safe.directory"  # the name of an option
    assert secret_variables(environ) == {"GITHUB_TOKEN": "t1", "Api_Key": "t2", "DB_PASSWORD": "t3"}
