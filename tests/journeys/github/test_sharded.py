"""The reusable workflow for several jobs: plan, a matrix of shards, and the merge, with the artifacts between them."""

from __future__ import annotations

import json
import shutil
import tempfile
from pathlib import Path
from typing import Any

import pytest

from tests.gh.emulated.called import Called, Ended, Runner, call, opened
from tests.gh.job import RENAMED, Job
from tests.journeys.conftest import SCENARIO

pytestmark = pytest.mark.usefixtures("evaluator")

RUN = 78
CALLER = """\
name: tidegate
on: pull_request
jobs:
  call:
    permissions: {contents: read, pull-requests: write}
    uses: owner/tidegate/.github/workflows/reusable-sharded.yml@0000000000000000000000000000000000000000
    with: {shards: "2", max_parallel: 2}
"""
MORE = """\
    with: {shards: "1", path: code, comment: on-regression, runs_on: '["self-hosted", "tidegate"]'}
    secrets:
      VARIABLES: |
        SHOP=s3cret==
"""


@pytest.fixture
def job(job: Job) -> Job:
    """A pull request that breaks the tool, with four scenarios."""
    job.repo.git("checkout", "--quiet", "main")
    more = {f"scenarios/keep_{n}.yaml": SCENARIO.replace("keep_notes", f"keep_{n}") for n in (2, 3, 4)}
    job.repo.commit(more)
    job.repo.git("branch", "--quiet", "--delete", "--force", "pr")
    job.repo.branch("pr", {"bin/notes": RENAMED})
    return job


class SeveralJobs:
    """One run of the workflow. Each job has a workspace of its own, and the artifacts of the jobs before it."""

    def __init__(self, job: Job, caller: str = CALLER, **changes: Any) -> None:
        self.job, self.caller = job, caller
        self.event = opened(job, RUN, **changes)
        self.artifacts: dict[str, bytes] = {}

    def called(self, name: str, **contexts: Any) -> Called:
        return call(self.caller, self.event, name, **contexts)

    def run(self, name: str, **contexts: Any) -> Ended:
        place = Path(tempfile.mkdtemp(prefix=f"{name}-", dir=self.job.repo.root.parent))
        called = self.called(name, **contexts)
        shutil.copytree(self.job.repo.root, place / "work" / called.contexts["inputs"]["path"])
        runner = Runner(place / "work", self.job, artifacts=self.artifacts)
        ended = runner.run(called, self.event)
        self.artifacts |= ended.uploads
        return ended

    def plan(self) -> dict[str, Any]:
        """Run the plan, and return the context `needs` of the jobs after it."""
        planned = self.run("plan")
        assert planned.ran.exit_code == 0, planned.ran.stderr
        return {"plan": {"result": "success", "outputs": {"matrix": planned.step.outputs()["matrix"]}}}

    def shards(self, needs: dict[str, Any]) -> None:
        for entry in json.loads(needs["plan"]["outputs"]["matrix"])["include"]:
            ended = self.run("shard", needs=needs, matrix=entry)
            assert ended.ran.exit_code == 0, ended.ran.stderr
            assert "GITHUB_TOKEN" not in ended.ran.stdout

    def merge(self, needs: dict[str, Any]) -> Ended:
        return self.run("tidegate", needs={**needs, "shard": {"result": "success"}})


def result_of(ended: Ended) -> dict[str, Any]:
    loaded: dict[str, Any] = json.loads((ended.step.workspace / ".tidegate/pr/result.json").read_text(encoding="utf-8"))
    return loaded


def test_two_shards_and_a_merge_end_as_one_job_and_a_lost_one_is_reported(job: Job) -> None:
    run = SeveralJobs(job)
    needs = run.plan()
    run.shards(needs)
    assert sorted(run.artifacts) == [
        "tidegate-plan-default",
        "tidegate-shard-default-1-of-2",
        "tidegate-shard-default-2-of-2",
    ]
    assert job.pull.bot_comments() == [], "only the merge writes a comment"

    merged = run.merge(needs)

    (comment,) = job.pull.bot_comments()
    assert merged.ran.exit_code == 1, merged.ran.stderr
    assert merged.step.outputs()["comment_url"] == comment.url
    assert merged.step.outputs()["regressions"] == "4"
    assert run.artifacts["tidegate-report.html"].startswith(b"<!doctype html>")
    assert "tidegate-result" in run.artifacts
    assert f"/actions/runs/{RUN}/artifacts/77)" in comment.body

    del run.artifacts["tidegate-shard-default-2-of-2"]
    lost = run.merge(needs)
    states = sorted(row["state"] for row in result_of(lost)["rows"])
    assert states == ["not_measured"] * 2 + ["regressed"] * 2
    assert "shard 2 of 2 is lost: there is no bundle of it" in job.pull.bot_comments()[0].body


def test_a_merge_without_a_plan_cannot_run(job: Job) -> None:
    """The job that plans failed: the required check is red, and says why."""
    run = SeveralJobs(job)
    merged = run.merge({"plan": {"result": "failure", "outputs": {"matrix": ""}}})
    assert (merged.ran.exit_code, "there is no plan of the shards" in merged.ran.stderr) == (4, True)
