"""Trends: series of rows."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from tests.unit.reports.situations import trend
from tidegate.model.result import Result
from tidegate.reports.trend_chart import SUCCESS, row_series

Stories = Mapping[str, Callable[[], Result]]
HEAD = {SUCCESS: 0.5, "duration_s": 3.0}


def test_a_row_has_its_success_and_what_was_measured_at_two_commits() -> None:
    found = row_series(trend("a", (("c1", 3, 4), ("c2", 4, 4)), duration_s=(2.0, 4.0)), HEAD)
    assert [series.name for series in found] == [SUCCESS, "duration_s"]
    assert (found[0].shas, found[0].texts, found[0].head_text) == (("c1", "c2"), ("75%", "100%"), "50%")
    assert (found[1].title, found[1].values, found[1].head) == ("duration", (2.0, 4.0), 3.0)


def test_one_commit_is_no_trend() -> None:
    assert row_series(trend("a", (("c1", 3, 4),)), HEAD) == ()
