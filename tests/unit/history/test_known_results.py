"""Which trials enter base's history, and which ones a later run of the same test takes over."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests import make
from tests.make import trial_result
from tidegate.history.known_results import ResumableTests, past_trials, without_failed_rows
from tidegate.history.run_folder import RunFolder
from tidegate.model.judge_result import JudgeResult
from tidegate.model.measurement import Outcome
from tidegate.model.trial_spec import NotMeasured, Side


def test_no_trial_of_a_row_in_which_base_failed_does() -> None:
    """Head can be the reason for the failure, and the row's other trials would make it look better than it is."""
    steady = [trial_result(scenario="steady", index=number, outcome="pass") for number in (1, 2)]
    lost = trial_result(scenario="steady", index=3, outcome=None, not_measured="outage")
    failed = [
        trial_result(scenario="other", index=1, outcome="pass"),
        trial_result(scenario="other", index=2, outcome="fail"),
    ]
    assert without_failed_rows([*steady, lost, *failed]) == [*steady, lost]


def test_trials_of_an_earlier_run_enter_the_history_once() -> None:
    trials = (trial_result(index=1, reused=True), trial_result(index=2))
    assert len(past_trials(make.run(*trials))) == 1


@pytest.mark.parametrize(
    ("outcome", "is_judged", "is_kept"),
    [("pass", True, True), ("pass", False, False), ("fail", False, True), (None, True, False)],
)
def test_what_was_not_measured_or_passes_unjudged_is_run_again(
    outcome: Outcome | None, is_judged: bool, is_kept: bool, tmp_path: Path
) -> None:
    """A failure is kept, so that no re-run can replace it."""
    lost = JudgeResult(pass_threshold=0.7, not_measured="judge", reason="an outage")
    result = trial_result(outcome=outcome, judge=None if is_judged else lost)
    tests = ResumableTests(tmp_path, 1, 0.0)
    tests.keep("key", result, RunFolder(tmp_path / "run"))
    assert bool(list(tests.trials("key"))) == is_kept


@pytest.mark.parametrize(
    ("side", "cause", "is_resumed"), [("head", "setup", False), ("head", "outage", True), ("base", "setup", True)]
)
def test_a_test_of_which_head_lost_a_trial_is_run_again_as_a_whole(
    side: Side, cause: NotMeasured, is_resumed: bool, tmp_path: Path
) -> None:
    tests = ResumableTests(tmp_path, 1, 0.0)
    tests.begin("key", ())
    tests.keep("key", trial_result(side=side, outcome=None, not_measured=cause), RunFolder(tmp_path / "run"))
    assert (tests.begun("key") is not None) is is_resumed
