"""The table of `tidegate simulate` with the drops that a suite can detect."""

from __future__ import annotations

from tidegate.decide.procedure.detection import Screening, detection
from tidegate.lab.simulate import sensitivity

STEADY, RARE = Screening(3, 1.0, 40), Screening(3, 0.3, 10)


def lines(**rows: Screening) -> list[list[str]]:
    return [line.split() for line in sensitivity(rows, 0.02).splitlines()]


def shares(*rows: Screening) -> list[str]:
    found = [detection(row, 0.02).values() for row in rows]
    return [f"{sum(of_rows) / len(rows):.0%}" for of_rows in zip(*found, strict=True)]


def test_each_row_has_the_power_of_its_own_rate_and_history() -> None:
    table = lines(steady=STEADY, rare=RARE)
    assert ["steady", "100%", "40", *shares(STEADY)] in table
    assert ["rare", "30%", "10", *shares(RARE)] in table


def test_the_suite_has_the_mean_over_its_rows_for_each_number_of_trials() -> None:
    table = lines(steady=STEADY, rare=RARE)
    assert ["as", "configured", *shares(STEADY, RARE)] in table
    assert ["10", "trials", *shares(STEADY._replace(trials=10), RARE._replace(trials=10))] in table


def test_a_small_drop_is_found_less_often_than_a_large_one() -> None:
    (row,) = [line for line in lines(steady=STEADY) if line[:1] == ["steady"]]
    found = [int(share.rstrip("%")) for share in row[3:]]
    assert found == sorted(found)
    assert found[-1] == 100
    assert found[0] < 10


def test_the_table_has_80_columns_at_most() -> None:
    text = sensitivity({"s" * 100: STEADY}, 0.02)
    assert max(map(len, text.splitlines())) <= 80
