"""What an unconfirmed row is said to need is what the procedure needs: each advice is followed, and then it settles."""

from __future__ import annotations

import re
from random import Random

import pytest

from tests.procedure.test_steps import only
from tidegate.procedure.conclusion import Conclusion


def advised(conclusion: Conclusion) -> int:
    found = re.search(r"set (?:it|trials\.max) to (?:at least )?(\d+)", conclusion.clears_when)
    assert found, conclusion.clears_when
    return int(found[1])


def evenly(passes: int, trials: int, count: int = 90) -> str:
    """Outcomes that pass at this rate, evenly spread and the failures first."""
    return "".join("P" if (n + 1) * passes // trials > n * passes // trials else "F" for n in range(count))


def drawn(rate: float, chance: Random, count: int) -> str:
    return "".join("P" if chance.random() < rate else "F" for _ in range(count))


@pytest.mark.parametrize(
    ("past", "base", "head"), [("past:40/40", 1.0, 0.72), ("past:32/40", 0.8, 0.4), ("", 1.0, 0.6)]
)
def test_with_the_head_trials_that_it_advises_the_same_rates_are_a_regression(
    past: str, base: float, head: float
) -> None:
    """Of many unconfirmed rows; a few are within 20 points of base, and end as no regression."""
    followed = regressed = 0
    for seed in range(80):
        chance = Random(seed)
        line, outcomes = f"docs {past} base:{drawn(base, chance, 90)}", f"FF{drawn(head, chance, 21)}"
        before = only(f"{line} head:{outcomes}")
        if before.state != "unconfirmed" or "more than" in before.clears_when:
            continue
        assert before.compared is not None
        (passes, trials), _ = before.compared
        longer = outcomes[: 3 + trials] + evenly(passes, trials)
        followed += 1
        regressed += only(f"{line} head:{longer} max:{advised(before)}").state == "regressed"
    assert followed >= 5
    assert regressed >= 0.8 * followed


@pytest.mark.parametrize("past", ["past:40/40", ""])
def test_the_least_limit_that_it_names_confirms_a_complete_failure_and_one_trial_less_does_not(past: str) -> None:
    line = f"docs {past} base:P head:F"
    short = only(f"{line} max:5")
    assert short.state == "unconfirmed"
    assert "passes 0 of 3 trials on head" in short.reason
    enough = advised(short)
    assert only(f"{line} max:{enough}").state == "regressed"
    assert only(f"{line} max:{enough - 1}").state != "regressed"
