"""Trends: series of rows and of the suite."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from tests.unit.reports.situations import trend
from tidegate.model.result import Result
from tidegate.reports.trend_chart import SUCCESS, row_series, suite_series

Stories = Mapping[str, Callable[[], Result]]
HEAD = {SUCCESS: 0.5, "duration_s": 3.0}


def test_a_row_has_its_success_and_what_was_measured_at_two_commits() -> None:
    found = row_series(trend("a", (("c1", 3, 4), ("c2", 4, 4)), duration_s=(2.0, 4.0)), HEAD)
    assert [series.name for series in found] == [SUCCESS, "duration_s"]
    assert (found[0].shas, found[0].texts, found[0].head_text) == (("c1", "c2"), ("75%", "100%"), "50%")
    assert (found[1].title, found[1].values, found[1].head) == ("duration", (2.0, 4.0), 3.0)


def test_one_commit_is_no_trend() -> None:
    assert row_series(trend("a", (("c1", 3, 4),)), HEAD) == ()


def test_the_suite_has_each_row_as_it_was_measured_last(stories: Stories) -> None:
    """A commit at which only one row was measured says nothing new of the others."""
    rows = (trend("a", (("c1", 4, 4), ("c3", 0, 4))), trend("b", (("c1", 2, 4), ("c2", 4, 4))))
    success, *_ = suite_series(stories["all_fine"]().model_copy(update={"trends": rows}))
    assert list(zip(success.shas, success.values, strict=True)) == [("c1", 0.75), ("c2", 1.0), ("c3", 0.5)]
    assert success.head == 1.0
