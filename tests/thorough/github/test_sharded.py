"""The reusable workflow for several jobs, with all that a caller can pass."""

from __future__ import annotations

import pytest

from tests.gh.emulated.called import evaluated
from tests.gh.job import Job
from tests.journeys.github.test_sharded import CALLER, MORE, SeveralJobs
from tests.journeys.github.test_sharded import job as job

pytestmark = pytest.mark.usefixtures("evaluator")


def test_a_caller_passes_inputs_permissions_and_any_secret_by_name(job: Job) -> None:
    caller = CALLER.partition("    with:")[0]
    run = SeveralJobs(job, caller + MORE)
    needs = run.plan()
    run.shards(needs)
    merged = run.merge(needs)
    assert (merged.ran.exit_code, merged.env["SHOP"]) == (1, "s3cret=="), merged.ran.stderr
    assert len(job.pull.repo.comments) == 1
    for name in ("plan", "shard", "tidegate"):
        called = run.called(name, needs=needs, matrix={"shard": "1/1", "name": "1-of-1"})
        assert evaluated({"on": called.job["runs-on"]}, called.contexts)["on"] == ["self-hosted", "tidegate"]


def test_a_run_with_nothing_to_do_has_no_shards_and_passes_by_its_merge(job: Job) -> None:
    run = SeveralJobs(job, action="closed")
    needs = run.plan()
    assert needs["plan"]["outputs"]["matrix"] == ""
    assert not run.called("shard", needs=needs, matrix={}).starts
    assert run.merge(needs).ran.exit_code == 0
