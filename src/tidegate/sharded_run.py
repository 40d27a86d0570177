"""Run a pull request's trials in several jobs: plan them, run one of them, confirm, and build for all."""

from __future__ import annotations

from pathlib import Path

from tidegate.model.shard import BuildContents, ShardContents, ShardPlan
from tidegate.model.trial_spec import Side
from tidegate.run.checkouts import RevisionPair, commits_of, scratch_folder, two_sides
from tidegate.run.confirming import make_confirm_plan, run_confirmation
from tidegate.run.pull_request_job import load_pull_request
from tidegate.run.run_job import Options
from tidegate.run.sharding import Wanted, make_shard_plan, run_build, run_shard
from tidegate.shards.confirm_plan import ConfirmPlan


def plan_confirmation(root: Path, asked: RevisionPair, options: Options, wanted: Wanted) -> ConfirmPlan | None:
    """Return which jobs confirm which rows of a screened pull request; None if the merge does that alone."""
    commits = commits_of(root, asked)
    with scratch_folder() as scratch, two_sides(root, commits, scratch, scratch / "out") as sides:
        loaded = load_pull_request(root, commits.target, sides, scratch, options)
        return make_confirm_plan(root, loaded.job, options, wanted)


def plan_shards(root: Path, asked: RevisionPair, options: Options, wanted: Wanted) -> ShardPlan:
    """Return which shards screen which rows of a pull request; no shards if there is nothing to run."""
    commits = commits_of(root, asked)
    with scratch_folder() as scratch, two_sides(root, commits, scratch, scratch / "out") as sides:
        loaded = load_pull_request(root, commits.target, sides, scratch, options)
        plan = make_shard_plan(root, loaded.job, commits.target, options, wanted)
        return plan if loaded.touched or loaded.definitions else plan.model_copy(update={"shares": ()})


async def one_shard(root: Path, asked: RevisionPair, plan: ShardPlan, number: int, options: Options) -> ShardContents:
    """Run one shard of the plan, and write its bundle into `options.shards`."""
    commits = commits_of(root, asked)
    with scratch_folder() as scratch, two_sides(root, commits, scratch, scratch / "out") as sides:
        loaded = load_pull_request(root, commits.target, sides, scratch, options)
        if isinstance(plan, ConfirmPlan):
            return await run_confirmation(loaded.job, plan, number, options)
        return await run_shard(root, loaded.job, plan, number, options)


async def build_side(root: Path, asked: RevisionPair, plan: ShardPlan, side: Side, options: Options) -> BuildContents:
    """Build one side of a pull request for all shards, and write it into `options.shards`."""
    commits = commits_of(root, asked)
    with scratch_folder() as scratch, two_sides(root, commits, scratch, scratch / "out") as sides:
        loaded = load_pull_request(root, commits.target, sides, scratch, options)
        return await run_build(loaded.job, plan, side, options)
