"""Trends: series of rows and of the suite, and the chart in the step's summary."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import pytest

from tests.unit.reports.situations import trend
from tidegate.model.result import Result
from tidegate.reports.trend_chart import SUCCESS, render_trends, row_series, sparkline, suite_series

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


def test_the_summary_has_a_chart_and_a_line_for_each_row(stories: Stories) -> None:
    result = stories["all_fine"]()
    points = (("4f1c2a9be07d5a33", 0, 4), ("b82d07e4c9f3a156", 4, 4))
    text = render_trends(result.model_copy(update={"trends": (trend("add_task", points, agent="docs"),)}))
    assert "### Success over 2 commits of main" in text
    assert '    x-axis ["4f1c2a9", "b82d07e"]\n' in text
    assert "    line [0.0, 100.0]\n```" in text
    assert "| add\\_task × docs | ▁█ | 0% → 100% | 100% |" in text.replace("add_task", "add\\_task")


def test_without_a_trend_there_is_no_chart(stories: Stories) -> None:
    assert render_trends(stories["all_fine"]()) == ""


def test_a_stored_file_can_not_break_out_of_the_chart(stories: Stories) -> None:
    evil = trend("add_task", (('"]\n```', 1, 1), ("@octocat", 1, 1)), agent="docs")
    text = render_trends(stories["all_fine"]().model_copy(update={"trends": (evil,)}))
    assert text.count("```") == 2
    assert "@" not in text


@pytest.mark.parametrize(("values", "shown"), [((0.0, 0.5, 1.0), "▁▅█"), ((0.999,), "█"), ((), "")])
def test_a_sparkline_goes_from_end_to_end(values: tuple[float, ...], shown: str) -> None:
    assert sparkline(values, 0.0, 1.0) == shown


def test_a_number_that_is_always_nought_is_a_line_too() -> None:
    assert sparkline((0.0, 0.0), 0.0, 0.0) == "██"
