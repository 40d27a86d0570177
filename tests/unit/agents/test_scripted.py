from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import pytest
from pydantic import ValidationError

from tidegate.agents.scripted import Scripted
from tidegate.model.agent import NoAnswerError, ServerScript, ServerTools, Tool, ToolAnswer
from tidegate.model.scripted_step import ScriptedStep

if TYPE_CHECKING:
    from tests.trial.agents.conftest import LocalSession

    NewSession = Callable[[str, str], LocalSession]


def scripted(*steps: str | ScriptedStep, seed: int = 0, deterministic: bool | None = None) -> Scripted:
    return Scripted(type="scripted", steps={"tasks": steps}, seed=seed, deterministic=deterministic)


def test_steps_run_in_order_and_a_failure_does_not_stop_them(session: LocalSession) -> None:
    end = session.run(scripted("taskmgr add a", "taskmgr nonsense", "taskmgr add b"))
    assert session.calls == ["add a", "nonsense", "add b"]
    assert (end.end, end.message) == ("completed", "ran 3 of 3 steps")


def test_a_step_that_its_probability_skips_is_not_run_and_is_said(session: LocalSession) -> None:
    end = session.run(scripted("taskmgr add a", ScriptedStep(run="taskmgr add b", probability=0)))
    assert session.calls == ["add a"]
    assert session.messages == ["skipped by its probability 0: taskmgr add b"]
    assert end.message == "ran 1 of 2 steps"


def test_a_scenario_without_steps_completes_with_a_warning(new_session: NewSession) -> None:
    other = new_session("head/other/agent/1", "other")
    assert other.run(scripted("taskmgr add a")).end == "completed"
    assert other.calls == []
    assert other.warnings == ["this agent has no steps for the scenario other"]


def drawn(new_session: NewSession, trial_id: str, seed: int = 7) -> str:
    session = new_session(trial_id, "tasks")
    session.run(scripted(*[ScriptedStep(run="", probability=0.5)] * 24, seed=seed))
    return "".join("x" if event.type == "tool_call" else "-" for event in session.events if event.type != "tool_result")


def test_draws_are_the_same_on_every_machine(new_session: NewSession) -> None:
    """The literal was drawn once; another value means that stored trials cannot be repeated."""
    assert drawn(new_session, "head/tasks/agent/1") == "--xx-xx-----xxxxx-xxxx--"


def test_draws_differ_by_seed_side_and_index_but_not_by_agent(new_session: NewSession) -> None:
    trials = ["head/tasks/agent/1", "base/tasks/agent/1", "head/tasks/agent/2"]
    patterns = [drawn(new_session, trial) for trial in trials]
    patterns.append(drawn(new_session, "head/tasks/other/1", seed=8))
    assert len(set(patterns)) == 4
    assert drawn(new_session, "head/tasks/agent:model/1") == patterns[0]


def test_a_steps_chance_does_not_hang_on_the_steps_before_it(new_session: NewSession) -> None:
    certain = new_session("head/tasks/agent/1", "tasks")
    steps = [ScriptedStep(run="", probability=1)] * 23 + [ScriptedStep(run="", probability=0.5)]
    certain.run(scripted(*steps, seed=7))
    assert (len(certain.commands) == 24) is (drawn(new_session, "head/tasks/other/1")[-1] == "x")


@pytest.mark.parametrize(
    ("probability", "stated", "expected"),
    [(1.0, None, True), (0.99, None, False), (0.0, None, False), (0.99, True, True), (1.0, False, False)],
)
def test_deterministic_without_probabilities_unless_stated(
    probability: float, stated: bool | None, expected: bool
) -> None:
    agent = scripted("a", ScriptedStep(run="b", probability=probability), deterministic=stated)
    assert agent.is_deterministic is expected


@pytest.mark.parametrize("probability", [-0.1, 1.1])
def test_a_probability_lies_between_0_and_1(probability: float) -> None:
    with pytest.raises(ValidationError):
        ScriptedStep(run="x", probability=probability)


def test_tools_of_a_server_are_called_and_listed_with_their_parameters(session: LocalSession) -> None:
    session.server = ServerScript("shelf", session.root / "server")
    schema = {"properties": {"title": {}, "due": {}}, "required": ["title"]}
    session.tools = ServerTools((Tool("where", "", {}), Tool("add", "", schema)))
    session.answers = [ToolAnswer("ok", "added")]
    end = session.run(scripted(ScriptedStep(list_tools=True), ScriptedStep(call="add", input={"title": "a"})))
    calls = [(event.tool, event.input) for event in session.events if event.type == "tool_call"]
    assert calls == [("tools/list", {}), ("add", {"title": "a"})]
    assert [event.output for event in session.events if event.type == "tool_result"] == [
        "add [due] title\nwhere",
        "added",
    ]
    assert end.message == "ran 2 of 2 steps"


def test_a_call_without_a_server_is_not_measured(session: LocalSession) -> None:
    with pytest.raises(NoAnswerError, match=r"the step add needs an MCP server"):
        session.run(scripted(ScriptedStep(call="add")))


@pytest.mark.parametrize("step", [{}, {"run": "x", "call": "y"}, {"run": "x", "input": {"a": 1}}])
def test_a_step_is_one_thing(step: dict[str, object]) -> None:
    with pytest.raises(ValidationError):
        ScriptedStep.model_validate(step)
