"""What an unconfirmed row is said to need is what the procedure needs: each advice is followed, and then it settles."""

from __future__ import annotations

import re

import pytest

from tests.unit.decide.procedure.test_steps import clears, only
from tidegate.decide.procedure.row_states import Conclusion


def advised(conclusion: Conclusion) -> int:
    found = re.search(r"set (?:it|trials\.max) to (?:at least )?(\d+)", clears(conclusion))
    assert found, clears(conclusion)
    return int(found[1])


@pytest.mark.parametrize("past", ["past:40/40", ""])
def test_the_least_limit_that_it_names_confirms_a_complete_failure_and_one_below_the_pairs_does_not(past: str) -> None:
    line = f"docs {past} base:P head:F"
    short = only(f"{line} max:5")
    assert short.state == "unconfirmed"
    enough = advised(short)
    assert only(f"{line} max:{enough}").state == "regressed"
    assert only(f"{line} max:{enough - 3}").state != "regressed", "its first trial is enough to be tested on pairs"
