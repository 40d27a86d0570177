"""Rows for which no agent can be run."""

from __future__ import annotations

import pytest

from tidegate.decide.procedure.steps import next_step, start
from tidegate.model.run_row import RunRow
from tidegate.model.suite import Policy


@pytest.mark.parametrize("deterministic", [True, False])
def test_no_trial_is_asked_of_them(deterministic: bool) -> None:
    def asks(row: RunRow) -> bool:
        return bool(next_step(start((row,), Policy())))

    row = RunRow(scenario="add", agent="claude", deterministic=deterministic)
    assert asks(row)
    assert not asks(row.model_copy(update={"no_agent": "secret"}))
