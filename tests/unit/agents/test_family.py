from __future__ import annotations

import pytest
from pydantic import TypeAdapter, ValidationError

from tidegate.agents import AnyAgent
from tidegate.agents.command import CommandAgent
from tidegate.agents.doc_follower import DocFollower
from tidegate.agents.scripted import Scripted
from tidegate.model.agent import Agent

FAMILY: TypeAdapter[Agent] = TypeAdapter(AnyAgent)


@pytest.mark.parametrize(
    ("written", "kind"),
    [
        ({"type": "doc-follower"}, DocFollower),
        ({"type": "scripted", "steps": {"a": ["x", {"run": "y", "probability": 0.5}]}}, Scripted),
        ({"type": "command", "command": "my-agent {prompt}", "max_turns": 3}, CommandAgent),
    ],
)
def test_type_names_the_agent(written: dict[str, object], kind: type[Agent]) -> None:
    assert type(FAMILY.validate_python(written)) is kind


def test_unknown_keys_are_errors() -> None:
    with pytest.raises(ValidationError, match="Extra inputs"):
        FAMILY.validate_python({"type": "doc-follower", "speed": "fast"})


def test_an_agent_survives_being_stored() -> None:
    agent = FAMILY.validate_python({"type": "scripted", "seed": 7, "steps": {"a": ["x", {"run": "y"}]}})
    assert FAMILY.validate_json(FAMILY.dump_json(agent)) == agent
