"""Real agents whose requests the model's provider refuses."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tests.thorough.real_agents.agents import CASES, Case, Compared, Job, Script, example

WORDS = "tools.0: the input schema of `add_note` is not accepted"
SCRIPT: Script = [("I list.", ["taskmgr list"]), ("Done.", [])]


@pytest.mark.parametrize("case", CASES[:2], ids=lambda case: case.agent.program)
def test_what_head_alone_has_refused_is_a_regression_of_its_setup(
    case: Case, compare_agent: Callable[[Case, Job], Compared]
) -> None:
    """Both agents send AGENTS.md with their first request, and head's has the text that is refused."""
    ran = compare_agent(case, Job(example, SCRIPT, {"AGENTS.md": "It is BROKEN here.\n"}, ("BROKEN", 400, WORDS)))
    (row,) = ran.result["rows"]
    assert (row["state"], row["kind"]) == ("regressed", "setup"), ran.comment
    assert f"the model's provider answered 400: {WORDS}" in row["reason"]
    assert ran.code == 1
    ends = {side: {t["end"] for t in ran.result["trials"] if t["side"] == side} for side in ("base", "head")}
    assert ends == {"base": {"completed"}, "head": {"refused_request"}}
