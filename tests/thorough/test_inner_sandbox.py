"""Agents that start a sandbox of their own inside of the trial's."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

from tests.journeys.conftest import FILES
from tidegate.model.event import Message, ToolResult
from tidegate.trial.agent_step import inner_sandbox

Make = Callable[..., Any]
SUITE = """\
version: 1
scenarios: [scenarios/*.yaml]
path: [bin]
agents:
  boxed: {type: command, command: "unshare --user --map-root-user notes add first"}
  loud: {type: command, command: "notes add first; echo 'bwrap: setting up uid map: Permission denied' >&2"}
"""


def test_a_sandbox_that_cannot_start_is_not_measured_and_a_line_of_the_tool_excuses_nothing(
    make_repository: Make, tidegate: Make
) -> None:
    repo = make_repository()
    repo.commit({**FILES, "tidegate.yaml": SUITE})

    ran = tidegate("run", "--trials", "1", "--out", "run", cwd=repo.root)

    trials = {trial["agent"]: trial for trial in json.loads((repo.root / "run/run.json").read_text())["trials"]}
    assert trials["boxed"]["not_measured"] == "inner_sandbox", ran.stderr
    assert trials["boxed"]["reason"].startswith("the agent's own sandbox did not start inside of the trial's: unshare:")
    assert trials["loud"]["outcome"] == "fail", "it has called the tool, which may have printed that line"


@pytest.mark.parametrize(
    "line",
    [
        "bwrap: No permissions to create new namespace, likely because the kernel does not allow it",
        "bwrap: Creating new namespace failed: Operation not permitted",
        "bwrap: loopback: Failed RTM_NEWADDR: Operation not permitted",
        "exec: bwrap: not found",
        "Error: error applying Linux sandbox: Sandbox(LandlockRestrict)",
        "Error: Sandbox required but unavailable: sandbox is enabled but dependencies are missing",
    ],
)
def test_what_sandboxes_print_is_found(line: str) -> None:
    assert (
        inner_sandbox([Message(text="I try."), ToolResult(id="1", status="error", output=f"a\n{line}\nb")], "") == line
    )
    assert inner_sandbox([], f"ended without an end event, exit 1: {line}") is not None


def test_other_refusals_are_none() -> None:
    assert (
        inner_sandbox([Message(text="I use bwrap: it is nice."), Message(text="cat: /x: Permission denied")], "")
        is None
    )
