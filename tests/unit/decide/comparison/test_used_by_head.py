"""Whether base alone would have ended the budget."""

from __future__ import annotations

from typing import Any

import pytest

from tests import make
from tidegate.decide.comparison.compare import used_by_head
from tidegate.decide.comparison.metric_tests import RowTrials
from tidegate.model.comparison import Overuse
from tidegate.model.judge_result import JudgeUse
from tidegate.model.measurement import Metrics, PastTrial, TrialResult
from tidegate.model.plan import RowKey
from tidegate.model.suite import Budget
from tidegate.model.trial_spec import Side
from tidegate.reports.verdict_text import overuse_text


def trial(side: Side, secs: float, **more: Any) -> TrialResult:
    return make.trial_result(side=side, outcome="pass", metrics=Metrics(duration_s=secs, cost_usd=secs), **more)


def lost(side: Side = "head", why: str = "budget") -> TrialResult:
    return trial(side, 0).model_copy(update={"outcome": None, "decides": None, "not_measured": why})


def found(*sides: RowTrials, budget: Budget, slots: int = 1, shares: Any = ()) -> tuple[Overuse, ...]:
    rows = {RowKey(scenario=f"row{number}", agent="docs"): side for number, side in enumerate(sides)}
    given = [[RowKey(scenario=name, agent="docs") for name in share] for share in shares]
    head = make.run(side="head").model_copy(update={"budget": budget, "slots": slots})
    return used_by_head(head, rows, given)


def row(base: float, head: float, *, beside_head: bool = False) -> RowTrials:
    seconds = Metrics(duration_s=base)
    past = PastTrial(
        scenario="a", agent="b", decides="pass", at=0, sha="c", beside_head=beside_head, metrics=seconds, around_s=0
    )
    return RowTrials((past,), (trial("base", base),), (trial("head", head),))


UNTRIED = RowTrials((), (lost("base"),), (lost(),))
SLOW = RowTrials(row(20, 20).past, (lost("base"),), (lost(),))  # as its history shows


@pytest.mark.parametrize(("base", "head", "by_head"), [(9, 9, True), (9, 18.5, True), (20, 20, False)])
def test_a_row_that_was_not_tried_is_head_s_doing_unless_base_is_as_slow(
    base: float, head: float, by_head: bool
) -> None:
    """Two rows on two sides: four trials at base's speed."""
    assert bool(found(row(base, head), SLOW, budget=Budget(minutes=1))) is by_head


def test_the_time_of_a_row_without_history_is_not_known() -> None:
    """It may be a fast one, whatever the others take."""
    assert found(row(20, 20), UNTRIED, budget=Budget(minutes=1))


def test_a_row_that_base_has_not_tried_may_need_nothing() -> None:
    """The other row is as dear as this one, or cheap: it is not known, whatever head has used."""
    assert found(row(20, 20), UNTRIED, budget=Budget(usd=50))


def test_the_sentence_has_the_numbers() -> None:
    (use,) = found(row(10, 40), UNTRIED, budget=Budget(minutes=1))
    assert overuse_text(use) == "at base's rate, as far as it is known, all trials take 20 of the budget's 60 s"


def test_large_numbers_of_the_sentence_can_be_read() -> None:
    use = Overuse(what="tokens", base=852.4, limit=1400)
    assert (
        overuse_text(use) == "at base's rate, as far as it is known, all trials take 852 of the budget's 1,400 tokens"
    )
    assert overuse_text(use.model_copy(update={"what": "judge", "base": 0.125})).startswith("the judge costs $0.12 for")


def test_trials_run_side_by_side() -> None:
    assert found(row(20, 20), UNTRIED, budget=Budget(minutes=1), slots=2)


def test_base_s_time_beside_head_is_no_evidence() -> None:
    """Head can hold what base waits for."""
    (use,) = found(row(20, 20, beside_head=True), UNTRIED, budget=Budget(minutes=1))
    assert overuse_text(use) == "no history of base shows that base takes the budget's 60 s, too"


def test_a_row_for_which_base_s_history_stands_counts() -> None:
    reused = RowTrials(row(10, 10).past, (), (lost(),))
    assert found(reused, budget=Budget(minutes=1))


@pytest.mark.parametrize(("budget", "by_head"), [(Budget(usd=19), False), (Budget(usd=21), True)])
def test_money_counts_as_time_does(budget: Budget, by_head: bool) -> None:
    assert bool(found(row(10, 10), UNTRIED, budget=budget)) is by_head


@pytest.mark.parametrize(
    ("budget", "by_head"), [({"trials": 3}, False), ({"trials": 4}, True), ({"usd": 1.5}, False), ({"usd": 2.5}, True)]
)
def test_trials_that_only_head_s_failures_asked_for_do_not_count(budget: dict[str, Any], by_head: bool) -> None:
    """Four were asked for without the one that confirms a failure. On base, two of them take $1 each."""
    more = RowTrials((), (trial("base", 1),), (trial("head", 1), trial("head", 1, phase="confirm")))
    assert bool(found(more, UNTRIED, budget=Budget.model_validate({"minutes": None, **budget}))) is by_head


@pytest.mark.parametrize(("most", "by_head"), [(3, True), (2, False)])
def test_a_limit_of_trials_that_was_not_reached_excuses_no_other(most: int, by_head: bool) -> None:
    """Base would have run into it, too; but it was the time that ended the run, before the second trial of head."""
    sides = (RowTrials((), (trial("base", 1),), (trial("head", 50),)), UNTRIED)
    assert bool(found(*sides, budget=Budget(minutes=1, trials=most))) is by_head


def test_a_run_that_ended_by_itself_says_nothing() -> None:
    assert found(row(1, 100), budget=Budget(minutes=1)) == ()


def test_each_shard_has_its_own_part_of_the_budget() -> None:
    """A slow row of another shard does not hide what used up this shard's part."""
    sides = (row(100, 100), row(1, 40), UNTRIED)
    assert found(*sides, budget=Budget(minutes=1)) == ()
    assert found(*sides, budget=Budget(minutes=1), shares=[["row0"], ["row1", "row2"]])


@pytest.mark.parametrize(("usd", "by_head"), [(29, False), (31, True)])
def test_a_shard_has_the_part_of_the_trials_that_base_s_rows_have_there(usd: float, by_head: bool) -> None:
    """Two thirds of the money, whatever rows head adds."""
    shares = [["row0", "row1", "new"], ["row2"]]
    assert bool(found(row(10, 10), UNTRIED, row(1, 1), budget=Budget(usd=usd), shares=shares)) is by_head


def judged(side: Side, usd: float) -> TrialResult:
    return trial(side, 1, judge_use=JudgeUse(calls=1, usd=usd, tokens_in=7))


UNJUDGED = RowTrials((), (lost("base", why="judge"),), (lost(why="judge"),))


@pytest.mark.parametrize(("usd", "by_head"), [(0, False), (1, True), (18, True)])
def test_a_judge_that_is_paid_for_head_s_trials(usd: float, by_head: bool) -> None:
    """If head were unchanged, equal questions would have been asked once."""
    side = RowTrials((), (judged("base", 10),), (judged("head", usd),))
    assert bool(found(side, UNJUDGED, budget=Budget())) is by_head


def test_each_shard_has_the_judge_s_money_for_itself() -> None:
    cheap = RowTrials((), (judged("base", 10), lost("base", why="judge")), (judged("head", 1),))
    dear = RowTrials((), (judged("base", 10),), (judged("head", 5),))
    assert not found(cheap, dear, UNJUDGED, budget=Budget())
    assert found(cheap, dear, UNJUDGED, budget=Budget(), shares=[["row0"], ["row1", "row2"]])
