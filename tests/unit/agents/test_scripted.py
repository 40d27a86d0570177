from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import pytest
from pydantic import ValidationError

from tidegate.agents.scripted import Scripted
from tidegate.model.agent import NoAnswerError, ScriptedStep, ServerScript, ServerTools, Tool, ToolAnswer

if TYPE_CHECKING:
    from tests.trial.agents.conftest import LocalSession

    NewSession = Callable[[str, str], LocalSession]


def scripted(*steps: str | ScriptedStep, seed: int = 0, deterministic: bool | None = None) -> Scripted:
    return Scripted(type="scripted", steps={"tasks": steps}, seed=seed, deterministic=deterministic)


def test_a_scenario_without_steps_completes_with_a_warning(new_session: NewSession) -> None:
    other = new_session("head/other/agent/1", "other")
    assert other.run(scripted("taskmgr add a")).end == "completed"
    assert other.calls == []
    assert other.warnings == ["this agent has no steps for the scenario other"]


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


def test_an_input_takes_what_an_earlier_answer_has(session: LocalSession) -> None:
    session.server = ServerScript("shelf", session.root / "server")
    session.tools = ServerTools((Tool("add", "", {}), Tool("link", "", {})))
    said = ("ID: a-7", "there is no room", "ID: b-8", "linked")
    session.answers = [ToolAnswer("ok", text) for text in said]
    last, before = ({"answer_of": "add", "match": r"room|ID: (\S+)", "back": back} for back in (0, 1))
    add = ScriptedStep(call="add")
    session.run(scripted(add, add, add, ScriptedStep(call="link", input={"ids": [before, last], "kind": "x"})))
    calls = [(event.tool, event.input) for event in session.events if event.type == "tool_call"]
    assert calls[-1] == ("link", {"ids": ["a-7", "b-8"], "kind": "x"})


@pytest.mark.parametrize("answers", [[], [ToolAnswer("error", "there is no room")]])
def test_a_call_whose_input_no_answer_has_fails_and_is_not_sent(
    session: LocalSession, answers: list[ToolAnswer]
) -> None:
    session.server = ServerScript("shelf", session.root / "server")
    session.tools = ServerTools((Tool("add", "", {}), Tool("get", "", {})))
    session.answers = [*answers]
    get = ScriptedStep(call="get", input={"id": {"answer_of": "add", "match": r"ID: (\S+)"}})
    session.run(scripted(*[ScriptedStep(call="add")] * len(answers), get))
    (result,) = [event for event in session.events if event.type == "tool_result"][len(answers) :]
    assert (result.status, result.output) == ("error", r"not sent: no answer of `add` has ID: (\S+)")
    assert session.answers == []


@pytest.mark.parametrize("match", ["ID: (", "ID: .*"])
def test_what_is_taken_from_an_answer_is_the_group_of_a_pattern(match: str) -> None:
    with pytest.raises(ValidationError, match="`match`"):
        ScriptedStep(call="get", input={"ids": [{"answer_of": "add", "match": match}]})


def test_a_call_without_a_server_is_not_measured(session: LocalSession) -> None:
    with pytest.raises(NoAnswerError, match=r"the step add needs an MCP server"):
        session.run(scripted(ScriptedStep(call="add")))


@pytest.mark.parametrize("step", [{}, {"run": "x", "call": "y"}, {"run": "x", "input": {"a": 1}}])
def test_a_step_is_one_thing(step: dict[str, object]) -> None:
    with pytest.raises(ValidationError):
        ScriptedStep.model_validate(step)
