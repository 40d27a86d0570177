"""What a suite may write as an agent's `provider`, and that a pull request cannot change it."""

from __future__ import annotations

from typing import Any

import pytest
from pydantic import TypeAdapter, ValidationError

from tests.model_server import Step, serving
from tests.unit.agents.model_proxy.test_proxy import ask
from tidegate.agents import AnyAgent
from tidegate.agents.model_proxy.proxy import ModelProxy
from tidegate.agents.providers.access import Accesses
from tidegate.agents.providers.keyed import CompatibleProvider
from tidegate.model.agent import Agent
from tidegate.model.provider import ANTHROPIC
from tidegate.suite.changes import entrusted

READ: TypeAdapter[AnyAgent] = TypeAdapter(AnyAgent)
BEDROCK = {"type": "bedrock", "region": "us-east-1", "role": "arn:aws:iam::1:role/ours"}
LOCAL = {"type": "compatible", "base_url": "http://127.0.0.1:11434"}


def claude(**keys: Any) -> Agent:
    return READ.validate_python({"type": "claude-code", "model": "m", **keys})


@pytest.mark.parametrize(
    ("base", "head"),
    [
        ({"provider": BEDROCK}, {"provider": BEDROCK | {"role": "arn:aws:iam::1:role/theirs"}}),
        ({"provider": BEDROCK}, {"provider": BEDROCK | {"base_url": "https://evil.example"}}),
        ({"provider": BEDROCK}, {"provider": LOCAL}),
        ({"provider": BEDROCK}, {}),
        ({}, {"provider": LOCAL}),
    ],
)
def test_head_cannot_change_where_models_are(base: dict[str, Any], head: dict[str, Any]) -> None:
    before, after = {"a": claude(**base)}, {"a": claude(**head)}
    assert entrusted(before, after) == before


def test_an_agent_that_only_head_has_gets_no_provider() -> None:
    assert entrusted({}, {"a": claude(provider=LOCAL)}) == {"a": claude()}


@pytest.mark.parametrize(
    ("written", "problem"),
    [
        ({"type": "codex", "provider": BEDROCK | {"type": "vertex"}}, "Field required"),
        ({"type": "gemini", "provider": BEDROCK}, "must be of type gemini or vertex or compatible"),
        ({"type": "opencode", "model": "amazon-bedrock/x"}, "is required for this model: {type: bedrock, …}"),
        ({"type": "opencode", "model": "google/x", "provider": BEDROCK}, "must be of type gemini or compatible"),
        (
            {"type": "claude-code", "provider": BEDROCK | {"base_url": "http://elsewhere.example"}},
            "must begin with `https://`, since a credential is sent there",
        ),
        ({"type": "claude-code", "provider": BEDROCK | {"region": "us/../x"}}, "must be a region"),
    ],
)
def test_what_cannot_work_is_refused(written: dict[str, Any], problem: str) -> None:
    with pytest.raises(ValidationError) as raised:
        READ.validate_python(written)
    assert problem in str(raised.value)


@pytest.mark.parametrize(("key", "sent"), [(None, None), ("OUR_KEY", "the-key-of-ours")])
def test_a_compatible_server_gets_its_key_or_none(key: str | None, sent: str | None) -> None:
    with serving([Step("Well.")]) as server, ModelProxy() as proxy:
        provider = CompatibleProvider(type="compatible", base_url=server.url, key=key)
        access = Accesses({"OUR_KEY": "the-key-of-ours"}).of(provider, ANTHROPIC)
        with proxy.lent(ANTHROPIC, access, provider.address(ANTHROPIC)) as lease:
            assert ask(lease)[0] == 200
    ((_, _, headers),) = server.requests
    assert headers.get("x-api-key") == sent
    assert "authorization" not in headers
