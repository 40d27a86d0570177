from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import get_args

import pytest

from tidegate.model.comparison import Divergence, Evidence, MetricChange, Row, SuiteEffect
from tidegate.model.measurement import Call
from tidegate.model.result import Result, VerdictState
from tidegate.model.suite import RULES, RowState
from tidegate.reports.comment import comment_body
from tidegate.reports.html import page_view
from tidegate.reports.view import COLUMNS, STATE_SIGNS, VERDICT_SIGNS, Trend, comment_view

Stories = Mapping[str, Callable[[], Result]]


def with_metric(result: Result, name: str, base: float | None, head: float | None) -> Result:
    row = result.rows[0].model_copy(update={"metrics": {name: MetricChange(base=base, head=head)}})
    return result.model_copy(update={"rows": (row,)})


def test_every_state_has_a_sign_of_its_own() -> None:
    assert set(STATE_SIGNS) == set(get_args(RowState))
    assert set(VERDICT_SIGNS) == set(get_args(VerdictState))
    assert len(set(STATE_SIGNS.values())) == len(STATE_SIGNS)


def test_every_row_stands_in_one_group(story: tuple[str, Result]) -> None:
    """No row can get lost between the groups."""
    _, result = story
    view = comment_view(result)
    findings = (*view.regressed, *view.unconfirmed, *view.improved)
    grouped: list[Row] = [row for finding in findings for row in (finding.row, *finding.others)]
    grouped += [row for group in (*view.not_measured, *view.notable) for row in group.rows]
    grouped += [row for row in view.uncertain if row.state == "flaky"]
    assert len(grouped) + view.ok == len(result.rows) == len(view.table)


@pytest.mark.parametrize(
    ("metric", "base", "head", "trend"),
    [
        ("error_rate", 0.10, 0.14, "same"),
        ("error_rate", 0.10, 0.16, "worse"),
        ("error_rate", 0.40, 0.10, "better"),
        ("first_try_success_rate", 0.9, 0.8, "worse"),
        ("first_try_success_rate", 0.8, 0.9, "better"),
        ("command_count", 4.0, 4.5, "same"),
        ("command_count", 4.0, 5.0, "worse"),
        ("command_count", 5.0, 4.0, "better"),
        ("command_count", 0.0, 0.0, "same"),
        ("duration_s", 10.0, 20.0, "same"),
        ("duration_s", None, 13.0, "same"),
        ("error_rate", 0.5, None, "same"),
    ],
)
def test_an_arrow_needs_the_margin_of_its_metric(
    stories: Stories, metric: str, base: float | None, head: float | None, trend: Trend
) -> None:
    assert metric in COLUMNS
    (line,) = comment_view(with_metric(stories["all_fine"](), metric, base, head)).table
    assert line.metrics[metric].trend == trend


def test_the_page_has_a_cell_for_each_column(stories: Stories) -> None:
    result = stories["stochastic_regression"]()
    titles = [title for title, _ in COLUMNS.values()]
    assert COLUMNS.keys() <= RULES.keys(), "a column without a rule would stay empty"
    page = page_view(result, {"base": "base", "head": "head"})
    assert list(page.columns) == titles, "give the stories of conftest.py a value of the new metric"
    assert {len(row.cells) for row in page.rows} == {len(titles)}


def test_what_may_be_chance_gets_no_arrow_without_a_test(stories: Stories) -> None:
    """Three trials of an agent that is not deterministic differ in their numbers whatever they are compared with."""
    fine = with_metric(stories["all_fine"](), "error_rate", 0.0, 0.5)
    (row,) = fine.rows
    for change, trend in (({}, "same"), ({"state": "regressed"}, "worse"), ({"state": "unconfirmed"}, "same")):
        stochastic = row.model_copy(update={"deterministic": False, **change})
        (line,) = comment_view(fine.model_copy(update={"rows": (stochastic,)})).table
        assert line.metrics["error_rate"].trend == trend
    improved = row.model_copy(update={"deterministic": False, "state": "improved"})
    (line,) = comment_view(fine.model_copy(update={"rows": (improved,)})).table
    assert line.metrics["error_rate"].trend == "same", "an improvement is not explained by what got worse"


def test_who_gives_up_early_has_not_done_better(stories: Stories) -> None:
    result = with_metric(stories["all_fine"](), "command_count", 5.0, 1.0)
    (row,) = result.rows
    gave_up = row.model_copy(update={"deterministic": True, "state": "regressed"})
    (line,) = comment_view(result.model_copy(update={"rows": (gave_up,)})).table
    assert line.metrics["command_count"].trend == "same"


def test_rows_whose_first_failure_has_the_same_words_are_one_finding(stories: Stories) -> None:
    """A tool that does not start breaks every scenario; numbers in its words (of a process, a line) do not matter."""
    broken = stories["one_regression"]()
    row = broken.rows[-1]
    assert row.evidence is not None
    assert row.evidence.divergence is not None

    def failing(scenario: str, message: str) -> Row:
        return failing_at_its_start(row, scenario, message, "the task is there")

    rows = (failing("add", "line 12: no module x"), failing("list", "line 7: no module x"), failing("link", "other"))
    one, other = comment_view(broken.model_copy(update={"rows": rows})).regressed
    assert (one.row.scenario, [row.scenario for row in one.others]) == ("add", ["list"])
    assert (other.row.scenario, other.others) == ("link", ())
    text = comment_body(broken.model_copy(update={"rows": rows}))
    assert "### ❌ Regressed: `add` × `docs`, `list` × `docs`\n" in text


def failing_at_its_start(row: Row, scenario: str, message: str, gate: str) -> Row:
    call = Call(command=f"taskmgr {scenario}", exit_code=1, status="error", message=message)
    parting = Divergence(step=1, base="", head="", head_steps=(call,))
    found = Evidence(trial=f"head/{scenario}/docs/1", divergence=parting, message=scenario, gate=gate)
    return row.model_copy(update={"scenario": scenario, "evidence": found})


def test_rows_that_fail_other_gates_are_findings_of_their_own(stories: Stories) -> None:
    """A failure that is told under another row's gate is hidden: gates are the same by type and by label."""
    broken = stories["one_regression"]()
    one = broken.rows[-1]
    rows = tuple(
        failing_at_its_start(one, scenario, "no module x", gate)
        for scenario, gate in (("load", "it is there"), ("show", "it is there"), ("sum", "the sum is right"))
    )
    (first,) = (trial for trial in broken.trials if trial.id == "head/add_high_priority/docs/1")
    (failed,) = first.gates

    def findings(*types: str) -> list[list[str]]:
        trials = tuple(
            first.model_copy(
                update={
                    "id": f"head/{row.scenario}/docs/1",
                    "gates": (failed.model_copy(update={"type": kind, "label": row.evidence and row.evidence.gate}),),
                }
            )
            for row, kind in zip(rows, types, strict=True)
        )
        view = comment_view(broken.model_copy(update={"rows": rows, "trials": trials}))
        return [[row.scenario for row in (found.row, *found.others)] for found in view.regressed]

    assert findings("script", "script", "script") == [["load", "show"], ["sum"]]
    assert findings("script", "file_contains", "script") == [["load"], ["show"], ["sum"]]


def test_a_call_is_shown_once(stories: Stories) -> None:
    """The divergence shows its call with the answer; the list of failed calls has the others."""
    result = stories["one_regression"]()
    (finding,) = comment_view(result).regressed
    assert finding.row.evidence is not None
    assert finding.calls == ()
    alone = finding.row.evidence.model_copy(update={"divergence": None})
    rows = (finding.row.model_copy(update={"evidence": alone}),)
    assert comment_view(result.model_copy(update={"rows": rows})).regressed[0].calls == alone.calls


def test_time_gets_an_arrow_only_by_test(stories: Stories) -> None:
    """It drifts with the machine: a ratio of two single trials says nothing."""
    change = MetricChange(base=10, head=20, warns=True)
    row = stories["all_fine"]().rows[0].model_copy(update={"metrics": {"duration_s": change}})
    (line,) = comment_view(stories["all_fine"]().model_copy(update={"rows": (row,)})).table
    assert line.metrics["duration_s"].trend == "worse"


@pytest.mark.parametrize(
    ("story", "head_rate", "text"),
    [
        ("all_fine", 1.0, ""),
        ("all_fine", 0.75, "Success over the suite: 100% → 75% (−25 points)."),
        ("all_fine_stochastic", 1.0, "Success over the suite: 100% on both sides (90% interval −30 to +5 points)."),
        ("all_fine_stochastic", 0.75, "Success over the suite: 100% → 75% (−25 points, 90% interval −30 to +5)."),
    ],
)
def test_success_over_the_suite_has_an_interval_only_if_chance_can_move_it(
    stories: Stories, story: str, head_rate: float, text: str
) -> None:
    result = stories[story]()
    moved = {"base_rate": 1.0, "head_rate": head_rate, "difference": head_rate - 1, "interval": (-0.3, 0.05)}
    suite = result.suite.model_copy(update=moved)
    assert comment_view(result.model_copy(update={"suite": suite})).suite_text == text


def test_what_would_have_been_caught_is_ordered_from_the_largest_drop(stories: Stories) -> None:
    result = stories["all_fine_stochastic"]()
    smaller = {"-0.1": 0.02, "-0.2": 0.1, **result.suite.detection}
    suite = result.suite.model_copy(update={"detection": smaller})
    catches = comment_view(result.model_copy(update={"suite": suite})).catches
    assert [drop for drop, _ in catches] == [1.0, 0.5, 0.3]


def test_repeats_catch_nothing_where_they_could_not_be_asked_for(stories: Stories) -> None:
    """Two stored runs of a deterministic suite: no repeat could confirm anything, and detection says so."""
    fine = stories["all_fine"]()
    stored = fine.model_copy(update={"suite": fine.suite.model_copy(update={"detection": {"-1.0": 0.0}})})
    assert comment_view(fine).repeats is True
    assert comment_view(stored).repeats is False


def test_rows_that_fail_on_both_sides_are_named(stories: Stories) -> None:
    result = stories["all_fine"]()
    row = result.rows[0]
    dead = row.model_copy(
        update={
            side: counts.model_copy(update={"passes": 0}) for side, counts in (("base", row.base), ("head", row.head))
        }
    )
    (line,) = comment_view(result.model_copy(update={"rows": (dead,)})).table
    assert line.fails_on_both is True


def test_where_nothing_passes_nothing_is_promised(stories: Stories) -> None:
    """Whatever a stored result says: rows that pass on neither side could have shown nothing."""
    result = stories["nothing_passes"]()
    suite = SuiteEffect(base_rate=0, head_rate=0, detection={"-1.0": 1.0, "-0.5": 0.3})
    result = result.model_copy(update={"suite": suite})
    assert comment_view(result).catches == ()
    assert "complete" not in comment_body(result)
