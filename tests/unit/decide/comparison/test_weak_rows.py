"""Rows whose green state is weak evidence."""

from __future__ import annotations

from tests import make
from tidegate.decide.comparison.whole_suite import cannot_guard, doubts, fails_from_the_start
from tidegate.model.comparison import GateCounts, Row
from tidegate.model.measurement import Call, TrialResult
from tidegate.model.suite import RowState
from tidegate.model.trial_spec import Side
from tidegate.reports.notes_text import notes_text

CALL = Call(command="tool ls", exit_code=0, status="ok")


def row(base: int, head: int, state: RowState = "ok") -> Row:
    return make.row(state, (base, 1), (head, 1), gates=(GateCounts(gate="g", base=(base, 1), head=(head, 1)),))


def trial(side: Side = "head", calls: tuple[Call, ...] = (CALL,), end: str = "completed") -> TrialResult:
    return make.trial_result(side=side, end=end, calls=calls)


def said(rows: list[Row], trials: list[TrialResult]) -> list[str]:
    return list(notes_text(doubts(rows, trials)))


def test_a_row_that_works_leaves_no_doubt() -> None:
    assert said([row(1, 1)], [trial("base"), trial()]) == []


def test_a_row_that_passes_on_neither_side_cannot_show_a_regression() -> None:
    assert cannot_guard(row(0, 0))
    assert cannot_guard(row(0, 0, "flaky")), "a history of nothing but failures shows no more than fresh trials do"
    assert [cannot_guard(row(*passes)) for passes in ((1, 1), (1, 0), (0, 1))] == [False, False, False]
    assert said([row(0, 0)], [trial()]) == ["s × a: passes on neither side, so it cannot show a regression"]


def test_a_row_without_measured_trials_is_not_said_to_pass_nowhere() -> None:
    assert not cannot_guard(make.row("ok", (0, 1), (0, 0)))


def test_a_new_scenario_that_fails_is_doubted_too() -> None:
    new = row(0, 0, "added")
    assert not cannot_guard(new)
    assert [fails_from_the_start(one) for one in (new, row(0, 1, "added"))] == [True, False]
    assert said([new], [trial()]) == ["s × a: new, and no trial passes"]


def test_a_target_that_nobody_called_is_said() -> None:
    assert said([row(1, 1)], [trial("base", ()), trial("head", ())]) == ["s × a: the target was never called"]


def test_rows_with_one_doubt_share_its_sentence() -> None:
    rows = [row(0, 0).model_copy(update={"scenario": f"s{n}"}) for n in range(7)]
    (told,) = said([row(1, 1), *rows], [])
    names, _, doubt = told.partition(": ")
    assert names == "s0 × a, s1 × a, s2 × a, s3 × a, s4 × a and 2 more"
    assert doubt == "passes on neither side, so it cannot show a regression"


def test_a_crashed_agent_is_said_with_numbers() -> None:
    told = said([row(1, 1)], [trial("base"), trial(), trial(end="crashed")])

    assert told == ["s × a: the agent crashed in 1 of 2 trials on head"]
