"""Real agents run a scenario of examples/ with a scripted model instead of theirs.

As root, where a Python can be had that other users can run, they do it as the user of a trial.
"""

from __future__ import annotations

import os
from collections.abc import Callable

import pytest

from tests.as_root import open_python
from tests.thorough.real_agents.agents import CASES, DUMMY, KEYS, MASK, Case, Job, Ran, example
from tidegate.agents.gemini import GeminiAgent
from tidegate.model.event import ToolCall, ToolResult


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.agent.program)
def test_a_real_agent_is_recorded_exactly(case: Case, run_agent: Callable[[Case, Job], Ran]) -> None:
    """Eight invocations and five errors; and no token, and nobody else's key, in what its shell sees."""
    ran = run_agent(case, Job(example, MASK))
    trial = ran.trial
    assert (trial.not_measured, trial.end, trial.end_message) == (None, "completed", "")
    statuses = [call.status for call in trial.invocations]
    assert (len(statuses), statuses.count("error")) == (8, 5)
    assert {call.source for call in trial.invocations} == {"recorder"}
    shell = [event for event in trial.events if isinstance(event, ToolCall) and event.command]
    assert [event.command for event in shell] == [command for _, commands in MASK for command in commands]
    results = {event.id: event for event in trial.events if isinstance(event, ToolResult)}
    assert {results[call.id].exit_code for call in shell} == {0}
    assert ran.run["agents"]["real"]["version"] == case.agent.tested
    assert "network by namespace" in ran.run["confinement"]
    assert "keys in the model proxy" in ran.run["confinement"]
    assert ("own user" in ran.run["confinement"]) == (os.geteuid() == 0 and open_python() is not None)
    # Gemini CLI reads GEMINI.md alone, unless a project's settings say otherwise.
    assert case.agent is GeminiAgent or "of this folder are kept with `taskmgr`" in ran.requests, (
        "the model was told the project's guidance"
    )
    assert_secrets_are_kept(case, ran, *(results[call.id].output for call in shell[-2:]))


def assert_secrets_are_kept(case: Case, ran: Ran, shown: str, searched: str) -> None:
    """Its shell sees a token of the model proxy's at most; the model's provider is asked with the key."""
    names = {line.partition("=")[0] for line in shown.splitlines()}
    assert "PATH" in names
    assert (case.key in names and f"{case.key}=[{case.key}]" in shown) == case.shell_sees_token
    assert not names & (KEYS.keys() - {case.key})
    kept = [file for file in ran.record.rglob("*") if file.is_file() and DUMMY.encode() in file.read_bytes()]
    assert kept == [], "a key is in the record"
    assert DUMMY in ran.requests, "the model was asked with the agent's own key"
    if "own user" in ran.run["confinement"]:
        assert searched.strip() == "0", "a key is in the environment of a process that the agent can look at"
