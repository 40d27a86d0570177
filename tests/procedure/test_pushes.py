"""A row that regressed at an earlier push is green only if its new trials show it; all pushes share one budget."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tidegate.authoring.simulate import Gate, Situation, simulate_pushes
from tidegate.model.plan import RowKey
from tidegate.model.run_row import EarlierPushes
from tidegate.procedure.pushes import after_push
from tidegate.procedure.rules import Ask, Facts, Rules
from tidegate.procedure.screen import Report, ScreenConfirmVerify

RED = EarlierPushes(state="regressed", head=(0, 7), spent=1)
KEY = RowKey(scenario="add", agent="docs")


def played(earlier: EarlierPushes, head: Callable[[int], bool]) -> tuple[Report, int]:
    machine = ScreenConfirmVerify([Facts((40, 40), earlier=earlier)], Rules())
    steps, heads = machine.steps(), 0

    def outcome(ask: Ask) -> bool:
        nonlocal heads
        if ask.side == "base":
            return True
        heads += 1
        return head(heads)

    try:
        asks = next(steps)
        while True:
            asks = steps.send([outcome(ask) for ask in asks])
    except StopIteration:
        return machine.report(), heads


def found(earlier: EarlierPushes, head: Callable[[int], bool]) -> str:
    (row,) = played(earlier, head)[0].rows
    return row.confirmed.found if row.confirmed else "not confirmed"


def test_a_lucky_screening_does_not_clear_it() -> None:
    assert found(EarlierPushes(), lambda trial: trial <= 3) == "not confirmed"
    assert found(RED, lambda trial: trial <= 3) == "regressed"


def test_a_repair_clears_it_with_twelve_trials() -> None:
    (report, heads) = played(RED, lambda _: True)
    assert report.rows[0].confirmed is not None
    assert report.rows[0].confirmed.found == "ok"
    assert heads == 12 + 3  # and the screening


def test_trials_that_neither_repeat_nor_contradict_the_drop_leave_it_red() -> None:
    half = RED.model_copy(update={"head": (5, 10)})
    report, _ = played(half, lambda trial: trial % 4 > 0)
    assert report.rows[0].confirmed is not None
    assert report.rows[0].confirmed.found == "regressed"


def test_every_push_spends_of_the_same_budget() -> None:
    first, later = played(EarlierPushes(), lambda _: False)[0].rows[0], played(RED, lambda _: False)[0].rows[0]
    assert [first.level, later.level] == pytest.approx([0.02 / 2, 0.02 / 6])


def test_what_is_known_adds_up_while_the_row_stays_red() -> None:
    (row,) = played(RED, lambda _: False)[0].rows
    assert row.confirmed is not None
    (known,) = after_push({KEY: row}, {KEY: RED}).values()
    assert known == EarlierPushes(state="regressed", head=(0, 7 + row.confirmed.head[1]), spent=2)


def test_a_row_that_another_push_did_not_reach_stays_red() -> None:
    other = RowKey(scenario="list", agent="docs")
    (row,) = played(RED, lambda _: False)[0].rows
    assert after_push({KEY: row}, {other: RED})[other].state == "regressed"


def test_a_defect_stays_red_over_ten_pushes_and_its_repair_is_green() -> None:
    half = simulate_pushes(Situation.of("half", (1.0, 0.95, 0.8), (0.5, 0.95, 0.8)), Gate(), 60)
    assert half.blocked >= 0.95
    assert half.green_later <= 0.15
    assert half.cleared >= 0.9
    assert simulate_pushes(Situation.of("clean", (1.0, 0.95, 0.8)), Gate(), 60).blocked <= 0.05
