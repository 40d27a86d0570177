"""The detection table promises no more than the run's rules can detect."""

from __future__ import annotations

import re

import pytest

from tidegate.decide.procedure.detection import DROPS, Screening, detection, weakness
from tidegate.lab.simulate import Gate, Situation, simulate
from tidegate.reports.notes_text import weakness_text


def test_deterministic_rows_drop_to_nothing_or_not_at_all() -> None:
    assert detection([], [True, True, True], 0.02) == {"-1.0": 1.0}


def test_a_flip_that_can_not_be_confirmed_is_not_promised() -> None:
    assert detection([], [True, False], 0.02) == {"-1.0": 0.5}


def test_five_trials_a_side_see_a_collapse_of_one_row_and_little_else() -> None:
    table = detection([(5, 5)], [], 0.02)
    assert table == pytest.approx({f"-{drop}": drop**5 for drop in DROPS})


def test_three_trials_a_side_see_nothing_at_all() -> None:
    assert detection([(3, 3)] * 4, [], 0.02) == {f"-{drop}": 0 for drop in DROPS}


def test_of_a_mixed_run_small_drops_are_those_of_its_tested_rows() -> None:
    table = detection([(5, 5), (1, 1)], [True, True], 0.02)
    assert table == pytest.approx({f"-{drop}": drop**5 / 2 for drop in DROPS[:-1]} | {"-1.0": 3 / 4})


def test_without_a_row_there_is_no_table() -> None:
    assert detection([], [], 0.02) == {}


@pytest.mark.parametrize("row", [Screening(3, 1.0, 40), Screening(3, 0.95, 10), Screening(1, 1.0, 0)])
def test_the_promise_for_a_screened_row_is_what_the_procedure_does_at_its_own_rate(row: Screening) -> None:
    table = detection([], [], 0.02, [row])
    for drop, promised in table.items():
        head = max(0.0, row.rate + float(drop))
        found = simulate(Situation.of(drop, (row.rate,), (head,)), Gate(row.trials, row.history), 300, seed=7).named
        assert found == pytest.approx(promised, abs=0.12)


def test_a_row_whose_base_fails_often_or_has_little_history_promises_less() -> None:
    tables = [
        detection([], [], 0.02, [Screening(3, *known)]) for known in ((1.0, 40), (0.95, 40), (0.95, 10), (0.8, 40))
    ]
    assert tables[0]["-0.5"] > tables[1]["-0.5"] > tables[2]["-0.5"]
    assert tables[1]["-0.5"] > tables[3]["-0.5"]


@pytest.mark.parametrize("row", [Screening(1, 0.6, 10), Screening(3, 0.4, 10), Screening(1, 0.5, 40)])
def test_a_row_that_base_seldom_passes_is_said_to_show_what_the_procedure_finds(row: Screening) -> None:
    found_weak = weakness(row, 0.02)
    assert found_weak is not None
    text = weakness_text(found_weak)
    said = re.search(r"found in about (\d+)% of runs, .* with (.*) in about (\d+)%", text)
    assert said, text
    more_trials, more_history = re.search(r"trials.min (\d+)", said[2]), re.search(r"(\d+) trials of history", said[2])
    better = Gate(
        int(more_trials[1]) if more_trials else row.trials, int(more_history[1]) if more_history else row.history
    )
    dead = Situation.of("dead", (row.rate,), (0.0,))
    for gate, promised in ((Gate(row.trials, row.history), said[1]), (better, said[3])):
        found = simulate(dead, gate, 300, seed=3).named
        assert found == pytest.approx(int(promised) / 100, abs=0.1)


def test_where_more_trials_do_not_help_a_better_scenario_does() -> None:
    found = weakness(Screening(10, 0.3, 40), 0.02)
    assert found is not None
    assert weakness_text(found).endswith("; a scenario that passes more often guards more")


def test_a_row_that_base_nearly_always_passes_has_no_weakness() -> None:
    assert weakness(Screening(3, 0.95, 40), 0.02) is None


def test_nothing_is_promised_where_base_hardly_passes_or_the_limit_is_too_low() -> None:
    assert max(detection([], [], 0.02, [Screening(3, 0.2, 40)]).values()) < 0.01
    assert set(detection([], [], 0.02, [Screening(3, 1.0, 40, most=5)]).values()) == {0.0}
