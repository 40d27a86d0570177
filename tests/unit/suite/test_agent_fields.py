"""A pull request cannot send an agent's API key to another address."""

from __future__ import annotations

from typing import Any

import pytest
from pydantic import TypeAdapter

from tests.unit.agents.streams.captures import CODING
from tidegate.agents import AnyAgent
from tidegate.model.agent import Agent
from tidegate.suite.changes import entrusted

READ: TypeAdapter[Agent] = TypeAdapter(AnyAgent)
ELSEWHERE = {"ANTHROPIC_BASE_URL": "https://mallory.example"}
KEYED = ("anthropic", *CODING)


def agent(type_: str = "claude-code", **more: Any) -> Agent:
    model = {"model": "anthropic/m"} if type_ == "opencode" else {"model": "m"}
    return READ.validate_python({"type": type_, **model, **more})


def run_as(base: Agent | None, head: Agent) -> Agent:
    """Head's agent as it is run."""
    agents = {} if base is None else {"one": base}
    return entrusted(agents, {"one": head})["one"]


@pytest.mark.parametrize("type_", KEYED)
def test_the_address_of_the_model_is_base_s(type_: str) -> None:
    proxy = {"ANTHROPIC_BASE_URL": "https://proxy.example"}

    assert run_as(agent(type_, env=proxy), agent(type_, env=ELSEWHERE)).env == proxy
    assert run_as(agent(type_), agent(type_, env=ELSEWHERE)).env == {}


def test_so_are_arguments_which_may_name_it_too() -> None:
    assert run_as(agent(args=["--fine"]), agent(args=["--settings", "evil.json"])) == agent(args=["--fine"])


@pytest.mark.parametrize("base", [None, agent("doc-follower"), agent("codex", env={"OPENAI_BASE_URL": "x"})])
def test_an_agent_that_base_does_not_have_starts_from_its_type_s_defaults(base: Agent | None) -> None:
    assert run_as(base, agent(env=ELSEWHERE, args=["--settings", "evil.json"])) == agent()


def test_what_leads_nowhere_may_be_tried_out() -> None:
    head = agent(model="other", max_turns=3, timeout_secs=9, max_usd=1, version="2.1.329", weight=2)

    assert run_as(agent(), head) == head


def test_an_agent_without_a_key_is_head_s_alone() -> None:
    head = READ.validate_python({"type": "command", "command": "true", "env": ELSEWHERE})

    assert run_as(READ.validate_python({"type": "command", "command": "false"}), head) == head


def test_every_type_that_is_given_a_key_is_known_to_be() -> None:
    assert all(agent(type_).variables for type_ in KEYED)
