"""What head used of the budget, compared with base."""

from __future__ import annotations

from typing import Any

import pytest

from tests import make
from tidegate.comparison.metric_tests import RowTrials
from tidegate.comparison.used_by_head import used_by_head
from tidegate.model.judge_result import JudgeUse
from tidegate.model.measurement import PastTrial, TrialResult
from tidegate.model.metrics import Metrics
from tidegate.model.plan import RowKey
from tidegate.model.trial_spec import Side


def trial(side: Side, **more: Any) -> TrialResult:
    return make.trial_result(side=side, outcome="pass", decides="pass", **more)


def cost(side: Side, usd: float, **more: Any) -> TrialResult:
    return trial(side, metrics=Metrics(cost_usd=usd), **more)


def cut_off(side: Side, usd: float) -> TrialResult:
    return cost(side, usd).model_copy(update={"outcome": None, "decides": None, "not_measured": "budget"})


def found(*sides: RowTrials, shares: list[list[str]] | None = None) -> tuple[str, ...]:
    rows = {RowKey(scenario=f"row{number}", agent="docs"): side for number, side in enumerate(sides)}
    given = [[RowKey(scenario=name, agent="docs") for name in share] for share in shares or []]
    return used_by_head(make.run(side="base"), make.run(side="head"), rows, given)


def test_agents_that_cost_more_than_twice_as_much() -> None:
    base = (cost("base", 0.1),)
    assert found(RowTrials((), base, (cost("head", 0.2), cost("head", 0.2)))) == ()
    of_head = (cost("head", 0.5), cost("head", 0.1))
    assert found(RowTrials((), base, of_head)) == ("head's agents cost $0.6; as on base, the same trials cost $0.2",)
    assert found(RowTrials((), (), of_head)) == ()
    past = PastTrial(scenario="row0", agent="docs", decides="pass", at=0, sha="c0ffee", metrics=base[0].metrics)
    assert found(RowTrials((past,), (), of_head)) == found(RowTrials((), base, of_head))
    assert found(RowTrials((), base, tuple(one.model_copy(update={"reused": True}) for one in of_head))) == ()


def test_a_trial_that_the_budget_cut_off_counts_by_what_it_used_more() -> None:
    base = (cost("base", 0.1),)
    assert found(RowTrials((), base, (cut_off("head", 0.3),)))
    assert not found(RowTrials((), base, (cost("head", 0.1), cut_off("head", 0.05))))
    assert not found(RowTrials((), (cut_off("base", 0.3),), (cut_off("head", 0.4),)))


@pytest.mark.parametrize(
    ("more", "text"),
    [
        (lambda n: {"metrics": Metrics(tokens_in=1000 * n, tokens_out=500)}, "head's agents used 9,500 tokens"),
        (lambda n: {"judge_use": JudgeUse(calls=1, usd=0.01 * n)}, "the judge of head's trials cost $0.09"),
        (lambda n: {"judge_use": JudgeUse(calls=1, tokens_in=10 * n)}, "the judge of head's trials used 90 tokens"),
    ],
)
def test_tokens_and_the_judge_count_too(more: Any, text: str) -> None:
    sentences = found(RowTrials((), (trial("base", **more(1)),), (trial("head", **more(9)),)))
    assert [sentence.partition(";")[0] for sentence in sentences] == [text]


def test_trials_that_only_head_s_failures_asked_for() -> None:
    fresh = [trial("head", phase="confirm") for _ in range(3)]
    assert found(RowTrials((), (), (trial("head"), *fresh))) == (
        "head needed 3 trials more, besides 1 of the screening",
    )
    assert found(RowTrials((), (), (trial("head"), fresh[0]))) == ()


def test_each_shard_has_its_own_part_of_the_budget() -> None:
    """An expensive row of another shard, alike on both sides, does not hide what used up this shard's part."""
    large = RowTrials((), (cost("base", 9.0),), (cost("head", 9.0),))
    small = RowTrials((), (cost("base", 0.01),), (cost("head", 0.4),))
    assert found(large, small) == ()
    assert len(found(large, small, shares=[["row0"], ["row1"]])) == 1
