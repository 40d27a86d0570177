"""The agent that replays a session of base, step by step."""

from __future__ import annotations

from typing import Any

import pytest

from tests.trial.agents.conftest import LocalSession
from tests.unit.agents.test_recorded_session import play, step


@pytest.fixture
def session(tmp_path: Any) -> LocalSession:
    return LocalSession(tmp_path)


def test_an_id_that_the_tool_generates_anew_is_used_in_later_steps(session: LocalSession) -> None:
    new = 'echo "created n$(date +%N)x"'
    results = play(session, step(new, "created n123456789x"), step("echo show n123456789x n12"))
    name = results[0].output.split()[1]
    assert name != "n123456789x"
    assert results[1].output.strip() == f"show {name} n12"


def test_folders_of_the_recorded_trial_become_those_of_this_one(session: LocalSession) -> None:
    (result,) = play(session, step("echo /tidegate-place/trial/x /tidegate-place/checkout"))
    assert result.output.strip() == f"{session.workspace.parent}/x {session.repo}"


def test_files_are_written_and_edited_as_by_the_agent_s_own_tools(session: LocalSession) -> None:
    results = play(
        session,
        step(tool="Write", file_path="a/b.txt", content="one two"),
        step(tool="Edit", file_path="a/b.txt", old_string="two", new_string="three"),
        step(tool="Edit", file_path="a/b.txt", old_string="gone", new_string="x"),
        step(tool="Read", file_path="a/b.txt"),
    )
    assert [result.status for result in results] == ["ok", "ok", "error", "ok"]
    assert results[3].output == "one three"


def test_a_folder_is_kept_where_the_agent_keeps_it(session: LocalSession) -> None:
    steps = step("mkdir -p sub && cd sub"), step('basename "$PWD"')
    kept = play(session, *steps, keeps_folder=True, shell="bash")
    assert kept[1].output.splitlines()[0] == "sub"
