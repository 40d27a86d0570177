"""A row that regressed at an earlier push is green only if its new pairs show it; all pushes share one error budget."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from tests import make
from tests.simulated_pushes import simulate_pushes
from tidegate.decide.procedure.observed import RowSeen
from tidegate.decide.procedure.pairs import Paired
from tidegate.decide.procedure.pushes import after_push, after_run
from tidegate.decide.procedure.row_states import conclusions_of
from tidegate.decide.procedure.rules import Ask, Facts
from tidegate.decide.procedure.screening import Procedure, Report
from tidegate.lab.simulate import Gate, Situation
from tidegate.model.measurement import Outcome
from tidegate.model.plan import RowKey
from tidegate.model.run_row import EarlierPushes, RunRow
from tidegate.model.suite import Policy
from tidegate.model.trial_spec import NotMeasured, Side

RED = EarlierPushes(state="regressed", pairs=(14, 0, 14), pushes=1)
HALF = EarlierPushes(state="regressed", pairs=(20, 10, 20), pushes=1)
KEY = RowKey(scenario="add", agent="docs")
Passes = Callable[[int], bool]


def played(earlier: EarlierPushes, head: Passes, base: Passes = lambda _: True, history: int = 40) -> Report:
    machine = Procedure([Facts((history, history), earlier=earlier)], Policy())
    steps, seen = machine.steps(), {"head": 0, "base": 0}

    def outcome(ask: Ask) -> bool:
        seen[ask.side] += 1
        return (head if ask.side == "head" else base)(seen[ask.side])

    try:
        asks = next(steps)
        while True:
            asks = steps.send([outcome(ask) for ask in asks])
    except StopIteration:
        return machine.report()


def found(*given: Any) -> str:
    (row,) = played(*given).rows
    return row.paired.found if row.paired else "not tested"


def paired(earlier: EarlierPushes, head: Passes) -> Paired:
    """What the pairs show of a row that is tested on pairs."""
    (row,) = played(earlier, head).rows
    return make.sure(row.paired)


def test_a_lucky_screening_does_not_clear_it() -> None:
    assert found(EarlierPushes(), lambda trial: trial <= 3) == "not tested"
    assert found(RED, lambda trial: trial <= 3) == "regressed"


def test_what_an_earlier_push_left_unconfirmed_is_tested_again() -> None:
    assert found(EarlierPushes(state="unconfirmed", pushes=1), lambda _: True) == "ok"


def test_a_repair_clears_it_on_pairs() -> None:
    whole, half = paired(RED, lambda _: True), paired(HALF, lambda _: True)
    assert (whole.found, whole.pairs.number) == ("ok", 5), "a drop from 100 to 0 is contradicted quickly"
    assert (half.found, half.pairs.number) == ("ok", 17)


@pytest.mark.parametrize("history", [40, 0])
def test_one_failed_trial_of_base_does_not_clear_it(history: int) -> None:
    """Without a history, a base that had failed once was taken for one that always fails."""
    assert found(RED, lambda _: False, lambda trial: trial > 1, history) == "regressed"


def test_a_base_that_fails_along_with_head_clears_nothing() -> None:
    assert found(RED, lambda _: False, lambda _: False, 0) == "regressed"


def test_a_smaller_drop_does_not_clear_a_complete_failure() -> None:
    """Half of the trials pass: that contradicts a complete failure, and is still worse than base."""
    assert found(RED, lambda trial: trial <= 3 or trial % 2 > 0) == "regressed"


def test_pairs_that_neither_repeat_nor_contradict_the_drop_leave_it_red() -> None:
    assert found(HALF, lambda trial: trial % 4 > 0) == "regressed"


def test_every_push_spends_of_the_same_budget() -> None:
    limits = [paired(EarlierPushes(pushes=pushes), lambda _: False).limit for pushes in range(3)]
    assert limits == pytest.approx([0.02 / 2 / 2, 0.02 / 2 / 6, 0.02 / 2 / 12])


def test_what_is_known_adds_up_while_the_row_regresses_again() -> None:
    (row,) = played(RED, lambda _: False).rows
    (known,) = after_push({KEY: row}, {KEY: RED}).values()
    pairs = 14 + make.sure(row.paired).pairs.number
    assert known == EarlierPushes(state="regressed", pairs=(pairs, 0, pairs), pushes=2)


def test_pairs_that_show_nothing_do_not_make_the_earlier_drop_smaller() -> None:
    (row,) = played(RED, lambda trial: trial % 2 > 0).rows
    kept = after_push({KEY: row}, {KEY: RED})[KEY].pairs
    assert kept == RED.pairs if make.sure(row.paired).carried else kept[0] > RED.pairs[0]


def test_a_row_that_another_push_did_not_reach_stays_red() -> None:
    other = RowKey(scenario="list", agent="docs")
    (row,) = played(RED, lambda _: False).rows
    assert after_push({KEY: row}, {other: RED})[other].state == "regressed"


CAUSES: dict[str, NotMeasured] = {"B": "build", "S": "setup", "X": "infrastructure"}
SIDES: tuple[Side, Side] = ("base", "head")


@pytest.mark.parametrize(
    ("base", "head", "known"),
    [
        ("P", "P", EarlierPushes()),
        ("F", "F", EarlierPushes()),
        ("P", "F", EarlierPushes(failed=True)),
        ("PP", "FFF", EarlierPushes(state="regressed", pairs=(3, 0, 3), failed=True)),
        ("PP", "SSS", EarlierPushes(state="regressed", pairs=(3, 0, 3), failed=True)),
        ("PP", "BBB", EarlierPushes()),  # once it builds, all rows that it kept from being tried would be red
        ("X", "F", EarlierPushes()),  # nothing is known of base
    ],
)
def test_a_deterministic_row_leaves_what_its_repeats_show(base: str, head: str, known: EarlierPushes) -> None:
    outcomes: dict[str, Outcome] = {"P": "pass", "F": "fail"}
    trials = [
        make.trial_result(side=side, index=index, outcome=outcomes.get(letter), not_measured=CAUSES.get(letter))
        for side, letters in zip(SIDES, (base, head), strict=True)
        for index, letter in enumerate(letters, 1)
    ]
    entry = RowSeen(row=RunRow(scenario="s", agent="a", deterministic=True)).with_trials(trials)
    assert after_run([entry], conclusions_of([entry], 0.05, {}), {}, {}) == {entry.row.key: known}


def test_a_defect_stays_red_over_ten_pushes_and_its_repair_is_green() -> None:
    half = simulate_pushes(Situation.of("half", (1.0, 0.95, 0.8), (0.5, 0.95, 0.8)), Gate(), 60)
    assert half.blocked >= 0.95
    assert half.green_later <= 0.05
    assert half.cleared >= 0.9
    assert simulate_pushes(Situation.of("clean", (1.0, 0.95, 0.8)), Gate(), 60).blocked <= 0.05
