"""Rows that pass on head without a use of the tool."""

from __future__ import annotations

from tests import make
from tidegate.decide.comparison.compare import doubting_passes
from tidegate.decide.comparison.metric_tests import RowTrials
from tidegate.decide.procedure.row_states import Conclusion
from tidegate.decide.verdict import is_unproven
from tidegate.model.measurement import InvocationCounts, Outcome, PastTrial, TrialResult
from tidegate.model.plan import RowKey
from tidegate.model.run_row import Reason
from tidegate.model.suite import RowState
from tidegate.model.trial_spec import Side
from tidegate.reports.verdict_text import reason_text


def trials(side: Side, *uses: int, outcome: Outcome = "pass") -> list[TrialResult]:
    return [
        make.trial_result(side=side, index=number, outcome=outcome, invocations=InvocationCounts(uses=count))
        for number, count in enumerate(uses, 1)
    ]


def past(*uses: int) -> list[PastTrial]:
    return [PastTrial(scenario="s", agent="a", decides="pass", at=0, sha="", uses=count) for count in uses]


def said(trials: RowTrials, state: RowState = "ok", *, deterministic: bool = True) -> Conclusion:
    key = RowKey(scenario="s", agent="a")
    return doubting_passes(
        Conclusion(key=key, state=state, why=Reason(code="repeats"), deterministic=deterministic), trials
    )


def test_a_pass_without_a_use_is_unproven_where_base_uses_the_tool() -> None:
    found = said(RowTrials((), trials("base", 2), trials("head", 0)))

    assert (found.state, found.kind) == ("unconfirmed", "unused")
    assert (
        reason_text(found.state, found.why)
        == "no trial on head uses the tool under test, but all 1 passing trials on base do"
    )
    assert is_unproven(make.row(found.state, (1, 1), (1, 1), kind=found.kind))


def test_a_use_in_one_trial_of_head_or_none_in_one_of_base_shows_nothing() -> None:
    assert said(RowTrials((), trials("base", 2), trials("head", 0, 1))).state == "ok"
    assert said(RowTrials((), trials("base", 2, 0), trials("head", 0))).state == "ok"
    assert said(RowTrials((), trials("base", 0), trials("head", 0))).state == "ok"


def test_agents_that_use_the_tool_now_and_then_need_enough_trials() -> None:
    few = RowTrials((), trials("base", 1, 1), trials("head", 0))
    two = RowTrials((), trials("base", 1, 1), trials("head", 0, 0))
    with_history = RowTrials(past(*[1] * 5), (), trials("head", 0))

    states = [said(one, deterministic=False).state for one in (few, two, with_history)]
    assert states == ["ok", "unconfirmed", "unconfirmed"]


def test_a_base_that_fails_without_the_tool_still_needs_it_to_pass() -> None:
    base = [*trials("base", 0, outcome="fail"), *trials("base", 3)]
    assert said(RowTrials((), base, trials("head", 0))).state == "unconfirmed"


def test_a_head_that_fails_without_the_tool_is_no_pass_without_it() -> None:
    """An agent that gives up in half of its trials does so in all of a few now and then."""
    head = trials("head", 0, 0, 0, outcome="fail")
    assert said(RowTrials(past(*[1] * 20), (), head), deterministic=False).state == "ok"


def test_a_regression_stays_one() -> None:
    assert said(RowTrials((), trials("base", 1), trials("head", 0)), "regressed").state == "regressed"
