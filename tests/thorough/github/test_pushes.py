"""A lucky push through the action."""

from __future__ import annotations

from tests.gh.job import Job
from tests.trial.github.test_pushes import FAILS_OFTEN, judged, push
from tests.trial.github.test_pushes import job as job


def test_a_lucky_screening_does_not_clear_a_red_row(job: Job) -> None:
    """Each push has a tool that fails often; what is compared with base says whether that was luck."""
    judged(job.run())
    for number in range(3):
        ran, row = push(job, f"{FAILS_OFTEN}# push {number}\n")
        assert (ran.exit_code, row["state"]) == (1, "regressed"), row["reason"]
        assert row["head"]["confirm"][1] >= 3
