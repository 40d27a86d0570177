"""What a run promises and advises: no more than its rules detect, and as many trials as settle a row."""

from __future__ import annotations

import re

import pytest

from tests.make import sure
from tests.unit.decide.procedure.test_steps import clears, only
from tidegate.decide.procedure.detection import Screening, detection, weakness
from tidegate.decide.procedure.row_states import Conclusion
from tidegate.lab.simulate import Gate, Situation, simulate
from tidegate.reports.notes_text import weakness_text


@pytest.mark.parametrize("row", [Screening(3, 1.0, 40), Screening(3, 0.95, 10), Screening(1, 1.0, 0)])
def test_the_promise_for_a_screened_row_is_what_the_procedure_does_at_its_own_rate(row: Screening) -> None:
    table = detection(row, 0.02)
    for drop, promised in table.items():
        head = max(0.0, row.rate + float(drop))
        found = simulate(Situation.of(drop, (row.rate,), (head,)), Gate(row.trials, row.history), 300, seed=7).named
        assert found == pytest.approx(promised, abs=0.12)


def test_a_row_whose_base_fails_often_or_has_little_history_promises_less() -> None:
    tables = [detection(Screening(3, *known), 0.02) for known in ((1.0, 40), (0.95, 40), (0.95, 10), (0.8, 40))]
    assert tables[0]["-0.5"] > tables[1]["-0.5"] > tables[2]["-0.5"]
    assert tables[1]["-0.5"] > tables[3]["-0.5"]


@pytest.mark.parametrize("row", [Screening(1, 0.6, 10), Screening(3, 0.4, 10), Screening(1, 0.5, 40)])
def test_a_row_that_base_seldom_passes_is_said_to_show_what_the_procedure_finds(row: Screening) -> None:
    said = sure(re.search(r"found in about (\d+)% of runs", weakness_text(sure(weakness(row, 0.02)))))
    found = simulate(Situation.of("dead", (row.rate,), (0.0,)), Gate(row.trials, row.history), 300, seed=3).named
    assert found == pytest.approx(int(said[1]) / 100, abs=0.1)


def test_a_row_that_base_nearly_always_passes_has_no_weakness() -> None:
    assert weakness(Screening(3, 0.95, 40), 0.02) is None


def test_nothing_is_promised_where_base_hardly_passes_or_the_limit_is_too_low() -> None:
    assert max(detection(Screening(3, 0.2, 40), 0.02).values()) < 0.01
    assert set(detection(Screening(3, 1.0, 40, most=5), 0.02).values()) == {0.0}


def advised(conclusion: Conclusion) -> int:
    return int(sure(re.search(r"set (?:it|trials\.max) to (?:at least )?(\d+)", clears(conclusion)))[1])


@pytest.mark.parametrize("past", ["past:40/40", ""])
def test_the_least_limit_that_it_names_confirms_a_complete_failure_and_one_below_the_pairs_does_not(past: str) -> None:
    line = f"docs {past} base:P head:F"
    short = only(f"{line} max:5")
    assert short.state == "unconfirmed"
    enough = advised(short)
    assert only(f"{line} max:{enough}").state == "regressed"
    assert only(f"{line} max:{enough - 3}").state != "regressed", "its first trial is enough to be tested on pairs"
