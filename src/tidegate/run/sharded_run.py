"""Run a pull request's screening in several jobs: plan them, and run one of them."""

from __future__ import annotations

from pathlib import Path

from tidegate.model.bundle import BundleContents, ShardPlan
from tidegate.run.checkouts import RevisionPair, commits_of, scratch_folder, two_sides
from tidegate.run.pull_request_job import load_pull_request
from tidegate.run.run_job import Options
from tidegate.run.sharding import Wanted, make_shard_plan, run_shard


def plan_shards(root: Path, asked: RevisionPair, options: Options, wanted: Wanted) -> ShardPlan:
    """Return which shards screen which rows of a pull request; no shards if there is nothing to run."""
    commits = commits_of(root, asked)
    with scratch_folder() as scratch, two_sides(root, commits, scratch, scratch / "out") as sides:
        loaded = load_pull_request(root, commits.target, sides, scratch, options)
        plan = make_shard_plan(root, loaded.job, commits.target, options, wanted)
        return plan if loaded.touched or loaded.definitions else plan.model_copy(update={"shares": ()})


async def one_shard(root: Path, asked: RevisionPair, plan: ShardPlan, number: int, options: Options) -> BundleContents:
    """Run one shard of the plan, and write its bundle into `options.shards`."""
    commits = commits_of(root, asked)
    with scratch_folder() as scratch, two_sides(root, commits, scratch, scratch / "out") as sides:
        loaded = load_pull_request(root, commits.target, sides, scratch, options)
        return await run_shard(root, loaded.job, plan, number, options)
