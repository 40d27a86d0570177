"""A script runs its steps, and draws by chance."""

from __future__ import annotations

from collections.abc import Callable

from tests.trial.agents.conftest import LocalSession
from tests.unit.agents.test_scripted import scripted
from tidegate.model.agent import ScriptedStep

NewSession = Callable[[str, str], LocalSession]


def test_steps_run_in_order_and_a_failure_does_not_stop_them(session: LocalSession) -> None:
    end = session.run(scripted("taskmgr add a", "taskmgr nonsense", "taskmgr add b"))
    assert session.calls == ["add a", "nonsense", "add b"]
    assert (end.end, end.message) == ("completed", "ran 3 of 3 steps")


def test_a_step_that_its_probability_skips_is_not_run_and_is_said(session: LocalSession) -> None:
    end = session.run(scripted("taskmgr add a", ScriptedStep(run="taskmgr add b", probability=0)))
    assert session.calls == ["add a"]
    assert session.messages == ["skipped by its probability 0: taskmgr add b"]
    assert end.message == "ran 1 of 2 steps"


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
