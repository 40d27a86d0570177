"""The detection power in the HTML report."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from tidegate.model.result import Result
from tidegate.reports.html import page_view
from tidegate.reports.page_metrics import power_bars

Stories = Mapping[str, Callable[[], Result]]
DETECTION = {"-0.1": 0.016, "-0.5": 0.7, "-1.0": 1.0}
BARS = [("−10", "2%"), ("−50", "70%"), ("to 0", "100%")]


def test_there_is_a_bar_for_each_drop_the_smallest_first() -> None:
    bars = power_bars(dict(reversed(DETECTION.items())))
    assert [(bar.drop, bar.text) for bar in bars] == BARS
    assert [bar.share for bar in bars] == list(DETECTION.values())


def test_the_suite_and_each_row_have_their_own(stories: Stories) -> None:
    result = stories["all_fine_stochastic"]()
    row = result.rows[0].model_copy(update={"detection": DETECTION})
    view = page_view(result.model_copy(update={"rows": (row,)}), {})
    assert [(bar.drop, bar.text) for bar in view.rows[0].power] == BARS
    assert [bar.share for bar in view.power] == [0.31, 0.73, 1.0]
