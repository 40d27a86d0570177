"""Secrets are removed from text, in every form in which programs print them."""

from __future__ import annotations

import base64
import json
from collections.abc import Callable
from urllib.parse import quote, quote_plus

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tidegate.model.event import Message
from tidegate.text.redaction import Redaction, secret_variables
from tidegate.trial.safe_files import redacted

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


def wrapped(text: str, width: int = 7, end: str = "\n") -> str:
    return end.join(text[at : at + width] for at in range(0, len(text), width))


LONG = "sk/live/0123456789-abcdefghijklmnopqrstuvwxyz/" * 2
CUT: dict[str, Callable[[str], str]] = {
    "base64 with line breaks": lambda text: base64.encodebytes(text.encode()).decode(),
    "base64 with line breaks, in JSON": lambda text: json.dumps(base64.encodebytes(text.encode()).decode()),
    "base64 with line breaks, in JSON in JSON": lambda text: json.dumps(json.dumps(wrapped(b64(text)))),
    "base64 with blanks": lambda text: wrapped(b64(text), 4, " "),
    "base64 with Windows' line breaks": lambda text: wrapped(b64(text), 64, "\r\n"),
    "slashes in JSON": lambda text: json.dumps(text).replace("/", "\\/"),
    "one letter a line": lambda text: "\n".join(text),
    "a shell's continued lines": lambda text: wrapped(text, 20, "\\\n"),
    "xxd -p": lambda text: wrapped(text.encode().hex(), 60),
    "hex with blanks": lambda text: text.encode().hex(" "),
    "hex with colons": lambda text: text.encode().hex(":").upper(),
    "hex as a C string": lambda text: "".join(f"\\x{one:02x}" for one in text.encode()),
    "hex as a C array": lambda text: ", ".join(f"0x{one:02X}" for one in text.encode()),
    "hex in URLs": lambda text: "".join(f"%{one:02X}" for one in text.encode()),
    "hex in JSON": lambda text: "".join(f"\\u{one:04x}" for one in text.encode()),
    "hex in HTML": lambda text: "".join(f"&#x{one:x};" for one in text.encode()),
    "hex in quoted-printable": lambda text: wrapped("".join(f"={one:02X}" for one in text.encode()), 72, "=\n"),
}


def b64(text: str) -> str:
    return base64.b64encode(text.encode()).decode()


@pytest.mark.parametrize("form", CUT.values(), ids=CUT)
def test_a_secret_is_removed_in_pieces(form: Callable[[str], str]) -> None:
    clean = Redaction({"THE_KEY": LONG}).text(f"before {form(LONG)} after")
    assert "[THE_KEY]" in clean
    assert len(clean) < len("before [THE_KEY] after") + 14, clean


def test_a_secret_in_pieces_is_removed_from_a_value_that_stays_valid() -> None:
    event = Message(role="system", text=f'a "{wrapped(b64(LONG))}" b')
    clean = redacted(event, Redaction({"THE_KEY": LONG}))
    assert clean.text.startswith('a "[THE_KEY]')
    assert clean.text.endswith('" b')


@pytest.mark.parametrize("size", [1_000_000])
@pytest.mark.parametrize("letter", ["\\", "a", "\n", "0x", "%"])
def test_long_texts_take_no_longer_than_their_length(letter: str, size: int) -> None:
    text = letter * (size // len(letter))
    assert Redaction({"THE_KEY": "a" * 16 + "b"}).text(text) == text


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
