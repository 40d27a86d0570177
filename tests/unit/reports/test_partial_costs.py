"""Costs that are known of some trials only, or estimated, are reported as such."""

from __future__ import annotations

import pytest

from tests import make
from tidegate.decide.verdict import decide
from tidegate.model.comparison import Comparison
from tidegate.model.measurement import AgentInfo, Metrics, TrialResult
from tidegate.model.result import Cost
from tidegate.reports.comment import comment_body
from tidegate.reports.make_result import make_result
from tidegate.reports.model_filters import spent


@pytest.mark.parametrize(
    ("cost", "text"),
    [
        (Cost(), "not reported"),
        (Cost(usd=0.19, usd_of=(84, 84)), "$0.19"),
        (Cost(usd=0.19, usd_of=(48, 84)), "$0.19 for 48 of 84 trials"),
        (Cost(usd=0.19, usd_of=(84, 84), usd_guessed=84), "$0.19 (estimated from tokens)"),
        (Cost(usd=2, usd_of=(4, 8), usd_guessed=2), "$2.00 for 4 of 8 trials (estimated from tokens for 2 of them)"),
        (Cost(usd_of=(0, 84)), "not reported"),
    ],
)
def test_what_agents_cost(cost: Cost, text: str) -> None:
    assert spent(cost) == text


def test_a_result_counts_the_trials_whose_cost_is_known() -> None:
    """Two of three trials of the agent with a model; those of the doc-follower cost nothing."""

    def trial(index: int, agent: str, usd: float | None = None, *, guessed: bool = False) -> TrialResult:
        metrics = Metrics(cost_usd=usd)
        return make.trial_result(agent=agent, index=index, metrics=metrics, cost_guessed=guessed, end="completed")

    agents = {"codex": AgentInfo(type="codex"), "docs": AgentInfo(type="doc-follower")}
    trials = trial(1, "codex", 0.5), trial(2, "codex", 0.25, guessed=True), trial(3, "codex"), trial(1, "docs")
    head = make.run(*trials, agents=agents)
    comparison = Comparison(rows=())
    result = make_result(comparison, decide(comparison, head.policy), make.run(side="base"), head)
    assert (result.cost.usd, result.cost.usd_of, result.cost.usd_guessed) == (0.75, (2, 3), 1)
    assert "**cost** $0.75 for 2 of 3 trials (estimated from tokens for 1 of them)" in comment_body(result)
