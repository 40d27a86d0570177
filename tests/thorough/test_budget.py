"""Budgets are hard limits: skipped trials are not measured, and the report estimates what they would cost."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

from tests.journeys.conftest import FILES

Make = Callable[..., Any]
SUITE = """\
version: 1
scenarios: [scenarios/*.yaml]
path: [bin]
trials: {jobs: 1}
budget: BUDGET
agents:
  paid: {type: command, output: events, command: "notes add first; notes add second; cat {repo}/end.json"}
"""


@pytest.fixture
def spend(make_repository: Make, tidegate: Make) -> Callable[..., Any]:
    """A pull request that breaks nothing, by an agent that tells what each trial cost."""

    def run(budget: str, more: str = "", **told: float) -> Any:
        repo = make_repository()
        repo.commit(
            {
                **FILES,
                "tidegate.yaml": SUITE.replace("BUDGET", budget),
                "scenarios/keep.yaml": FILES["scenarios/keep.yaml"] + more,
                "end.json": json.dumps({"type": "end", "end": "completed", **told}) + "\n",
            }
        )
        repo.branch("pr", {"README.md": "more"})
        return tidegate("pr", "--base", "main", "--head", "pr", "--pause", "0", cwd=repo.root)

    return run


def begun(ran: Any) -> int:
    return sum(trial["not_measured"] != "budget" for trial in ran.result["trials"])


@pytest.mark.parametrize(
    ("budget", "told", "trials", "why"),
    [
        ("{usd: 1.0}", {"cost_usd": 0.4}, 3, "the run's $1 were used up"),
        ("{tokens: 1000}", {"tokens_in": 300, "tokens_out": 100}, 3, "the run's 1,000 tokens were used up"),
        ("{trials: 2}", {}, 2, "the run's 2 trials were used up"),
    ],
)
def test_no_trial_is_begun_when_the_run_s_budget_is_used_up(
    budget: str, told: dict[str, float], trials: int, why: str, spend: Make
) -> None:
    ran = spend(budget, **told)
    assert begun(ran) == trials, ran.stderr
    left = [trial["reason"] for trial in ran.result["trials"] if trial["not_measured"] == "budget"]
    assert left == [why] * (6 - trials)
    price = ", about $1.20" if "cost_usd" in told else ""
    expected = f"the budget was used up; what it left without an outcome would take {6 - trials} more trials{price}"
    assert expected in ran.result["warnings"]
    assert 1 <= ran.result["cost"]["budget_used"] <= 1.2
    assert sum(ran.result["cost"]["trials"].values()) == trials
