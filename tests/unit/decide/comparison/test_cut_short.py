"""Rows whose trials the budget has cut short."""

from __future__ import annotations

import pytest

from tests import make
from tidegate.decide.comparison.compare import doubting_passes
from tidegate.decide.comparison.metric_tests import RowTrials
from tidegate.decide.procedure.row_states import Conclusion
from tidegate.decide.verdict import is_unproven
from tidegate.model.measurement import TrialResult
from tidegate.model.plan import RowKey
from tidegate.model.run_row import Reason
from tidegate.model.suite import RowState

DONE = make.trial_result(side="head", outcome="pass")
CUT = make.trial_result(side="head", index=2, outcome=None, not_measured="budget")


def concluded(*head: TrialResult, state: RowState = "ok") -> Conclusion:
    key = RowKey(scenario="s", agent="a")
    found = Conclusion(key=key, state=state, why=Reason(code="pairs"))
    return doubting_passes(found, RowTrials((), (), head))


@pytest.mark.parametrize("state", ["ok", "flaky", "improved", "unconfirmed"])
def test_a_row_that_was_cut_short_is_unconfirmed(state: RowState) -> None:
    assert concluded(DONE, state=state).state == state
    found = concluded(DONE, CUT, state=state)
    assert (found.state, found.kind) == ("unconfirmed", "cut_short")


@pytest.mark.parametrize(("passes", "by_head", "unproven"), [(2, True, True), (2, False, False), (0, False, True)])
def test_it_is_unproven_if_head_can_be_why_or_failed_every_trial(passes: int, *, by_head: bool, unproven: bool) -> None:
    row = make.row("unconfirmed", (3, 3), (passes, 3), kind="cut_short")
    assert is_unproven(row, {"budget"} if by_head else ()) is unproven
