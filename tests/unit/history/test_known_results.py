"""Which of base's trials beside a pull request enter its history."""

from __future__ import annotations

from tests.make import trial_result
from tidegate.history.known_results import without_failed_rows


def test_no_trial_of_a_row_in_which_base_failed_does() -> None:
    """Head can be the reason for the failure, and the row's other trials would make it look better than it is."""
    steady = [trial_result(scenario="steady", index=number, outcome="pass") for number in (1, 2)]
    lost = trial_result(scenario="steady", index=3, outcome=None, not_measured="outage")
    failed = [
        trial_result(scenario="other", index=1, outcome="pass"),
        trial_result(scenario="other", index=2, outcome="fail"),
    ]
    assert without_failed_rows([*steady, lost, *failed]) == [*steady, lost]
