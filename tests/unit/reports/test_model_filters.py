from __future__ import annotations

from collections.abc import Callable, Mapping

import pytest

from tidegate.model.comparison import Divergence, FailedCall
from tidegate.model.measurement import Call
from tidegate.model.result import Result
from tidegate.model.revision import Links
from tidegate.reports import filters, model_filters
from tidegate.reports.view import MetricCell, comment_view


def test_the_tool_s_words_can_not_look_like_another_call() -> None:
    text = model_filters.console([FailedCall(command="t a", exit_code=2, message="no\n$ t b\n[exit 0]")])
    assert text == "$ t a\n  no\n  $ t b\n  [exit 0]\n  [exit 2]"


def test_a_call_that_is_repeated_at_once_is_shown_once() -> None:
    one = FailedCall(command="t a", exit_code=2)
    other = FailedCall(command="t b", exit_code=1)
    assert model_filters.console([one, one, other, one]) == (
        "$ t a\n  [exit 2, 2 times]\n$ t b\n  [exit 1]\n$ t a\n  [exit 2]"
    )


@pytest.mark.parametrize(
    ("cell", "shown"),
    [
        (MetricCell(base=0.05, head=0.4, trend="worse"), "5% → 40% (worse)"),
        (MetricCell(base=0.4, head=0.05, trend="better"), "40% → 5% (better)"),
        (MetricCell(base=0.05, head=0.4, trend="worse", warns=True), "5% → 40% (worse) ⚠️"),
        (MetricCell(base=0.05, head=0.051), "5%"),
        (MetricCell(base=None, head=0.4), "– → 40%"),
        (MetricCell(), "–"),
    ],
)
def test_a_number_that_moved_shows_both_sides(cell: MetricCell, shown: str) -> None:
    assert model_filters.moved(cell, "percent").replace("\N{NO-BREAK SPACE}", " ") == shown


@pytest.mark.parametrize(
    ("value", "metric", "shown"),
    [
        (0.25, "error_rate", "25%"),
        (2.5, "help_count", "2.5"),
        (41000.0, "tokens_in", "41,000"),
        (61.0, "duration_s", "1 min 1 s"),
        (0.5, "cost_usd", "$0.50"),
        (None, "cost_usd", "–"),
    ],
)
def test_a_metric_has_its_own_unit(value: float | None, metric: str, shown: str) -> None:
    assert filters.measured(value, metric) == shown


def call(command: str, message: str = "", exit_code: int | None = 0) -> Call:
    return Call(command=command, exit_code=exit_code, status="error" if exit_code else "ok", message=message)


def test_output_of_both_sides_stands_once_if_only_the_exit_code_differs() -> None:
    head = call("t a", "x", exit_code=7)
    found = Divergence(step=1, base="", head="", base_steps=(call("t a", "x"),), head_steps=(head,))
    assert model_filters.diff(found).split("\n") == ["  $ t a", "      x", "+     [exit 7]"]


def test_of_long_outputs_the_lines_that_differ_are_shown() -> None:
    lines = [f"line {number}" for number in range(20)]
    base = call("t --help", "\n".join(lines))
    head = call("t --help", "\n".join([*lines[:9], "changed", *lines[10:]]))
    found = Divergence(step=1, base="", head="", base_steps=(base,), head_steps=(head,))
    assert model_filters.diff(found).split("\n") == [
        *("  $ t --help", "      line 0", "      … 7 lines left out …", "      line 8"),
        *("-     line 9", "+     changed"),
        *("      line 10", "      … 8 lines left out …", "      line 19"),
    ]


def test_a_commit_is_its_short_hash_linked_on_github(stories: Mapping[str, Callable[[], Result]]) -> None:
    view, sha = comment_view(stories["one_regression"]()), "4f1c2a9be07d5a3386f0c1d2e3b4a5968778695a"
    elsewhere = view.model_copy(update={"links": Links()})
    assert model_filters.commit(sha, elsewhere) == "`4f1c2a9`"
    assert model_filters.commit(sha, view) == f"[`4f1c2a9`](https://github.com/octo/taskmgr/commit/{sha})"
    assert model_filters.commit("](http://evil.example)", view) == "`](http://evil.example)`"
