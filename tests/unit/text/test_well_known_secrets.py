"""Keys and tokens that Tidegate does not know are found by their formats. All are made up here, at run time."""

from __future__ import annotations

import json

import pytest

from tidegate.model.event import Message, ToolResult
from tidegate.model.trial import Record
from tidegate.text.redaction import LEFT_OUT, masked_secrets, without_secrets

MIXED = "aB3dE5fG7h" * 10
DIGITS = "0123456789" * 10
KEY_BLOCK = "-----BEGIN RSA {0}-----\nMIIEpAIBAAKCAQEA\nab+/cd==\n-----END RSA {0}-----".format("PRIVATE KEY")
SECRETS = {
    "AWS": "AKIA" + MIXED[:16].upper(),
    "Azure": "AccountKey=" + MIXED[:86] + "==",
    "GitHub": "ghp_" + MIXED[:36],
    "GitHub Actions": "ghs_" + MIXED[:36],
    "GitHub, of an app": "ghs_" + DIGITS[:8] + "_eyJ" + MIXED[:20] + ".eyJ" + MIXED[:20] + "." + MIXED[:20],
    "GitHub, fine-grained": "github_pat_" + MIXED[:82],
    "GitLab": "glpat-" + MIXED[:20],
    "Slack": "xoxb-" + DIGITS[:12] + "-" + MIXED[:24],
    "Slack webhook": "hooks.slack.com/" + "services/T0/B0/" + MIXED[:24],
    "Stripe": "sk_live_" + MIXED[:24],
    "Anthropic": "sk-ant-" + "api03-" + MIXED[:93],
    "OpenAI": "sk-proj-" + MIXED[:48],
    "OpenAI, old": "sk-" + MIXED[:48],
    "Google": "AIza" + MIXED[:35],
    "npm": "npm_" + MIXED[:36],
    "PyPI": "pypi-" + MIXED[:80],
    "SendGrid": "SG." + MIXED[:22] + "." + MIXED[:43],
    "Hugging Face": "hf_" + MIXED[:34],
    "JSON Web Token": "eyJ" + MIXED[:20] + ".eyJ" + MIXED[:30] + "." + MIXED[:43],
    "private key": KEY_BLOCK,
    "private key in JSON": json.dumps(KEY_BLOCK)[1:-1],
    "private key, cut off": KEY_BLOCK[:60],
}
ORDINARY = (
    "task-" + MIXED[:8],
    "task-" + "0a" * 16,
    "a disk-shaped desk-lamp-with-a-very-long-name",
    "sha256:" + "0a" * 32,
    "123e4567-e89b-12d3-a456-426614174000",
    "/usr/lib/python3/site-packages/npm_modules/gho_st.py",
    "eyJ is how a JSON Web Token begins",
    "Bearer of bad news",
    "the file holds a PRIVATE KEY",
)


@pytest.mark.parametrize("secret", SECRETS.values(), ids=SECRETS)
def test_a_key_of_a_known_format_is_removed(secret: str) -> None:
    assert masked_secrets(f'a="{secret}"\nb') == 'a="[secret]"\nb'
    assert json.loads(masked_secrets(json.dumps([f"\n{secret}", "b"]))) == ["\n[secret]", "b"]


def test_the_token_of_a_header_is_removed() -> None:
    assert masked_secrets(f"Authorization: Bearer {MIXED[:40]}== x") == "Authorization: Bearer [secret] x"


@pytest.mark.parametrize("text", ORDINARY)
def test_ordinary_text_stays(text: str) -> None:
    assert masked_secrets(text) == text


def test_text_that_takes_too_long_to_search_is_left_out() -> None:
    text = "gho_ " * 1_000_000
    assert masked_secrets(text) == text
    assert masked_secrets(text, seconds=1e-9) == LEFT_OUT


def test_a_value_keeps_all_but_its_secrets() -> None:
    event = ToolResult(id="1", status="ok", output=f'"{SECRETS["npm"]}"\n', at=1.5)
    assert without_secrets(event) == event.model_copy(update={"output": '"[secret]"\n'})
    assert without_secrets(clean := event.model_copy(update={"output": "fine"})) is clean


@pytest.mark.parametrize("place", [0, 201])
def test_a_key_in_one_of_many_values_is_found(place: int) -> None:
    texts = ["nothing"] * 202
    texts[place] = f"the key is {SECRETS['GitHub']}"
    record = Record(prompt="p", events=tuple(Message(at=0, text=text) for text in texts))

    found = without_secrets(record)

    assert found.events[place] == Message(at=0, text="the key is [secret]")
    assert found.model_copy(update={"events": ()}) == Record(prompt="p")
