"""The matrix of a workflow's jobs, one per shard."""

from __future__ import annotations

import json

from tidegate.model.shard import BuildContents, ShardPlan
from tidegate.shards.assign import LEAST_ROWS
from tidegate.shards.confirm_plan import ConfirmPlan


def matrix(plan: ShardPlan) -> str:
    """Return the matrix as JSON for `fromJSON`. `shard` is what `tidegate shard` takes, `name` is for artifacts."""
    of = len(plan.shares)
    return json.dumps({"include": [{"shard": f"{n}/{of}", "name": f"{n}-of-{of}"} for n in range(1, of + 1)]})


def said_of_build(build: BuildContents) -> str:
    """Return a sentence about a build that was made for all shards."""
    if build.error:
        return f"the build of {build.side} failed, and all shards count it as failed: {build.error}"
    if build.stays:
        return f"the build of {build.side} cannot be moved, so each job makes it itself: {build.stays}"
    return f"{build.side} is built for all shards, in {build.seconds:.0f} s"


def overview_of_confirmation(plan: ConfirmPlan | None) -> str:
    """Return a sentence about the second matrix."""
    if plan is None:
        return "no second matrix: the merge confirms what looks worse"
    rows, longest = sum(len(share.rows) for share in plan.shares), max(share.seconds for share in plan.shares)
    return (
        f"{len(plan.shares)} shards confirm {rows} rows that look worse; the longest takes about {_time(longest)} "
        "if all of them are worse, without checkout and build"
    )


def _time(seconds: float) -> str:
    return f"{seconds / 60:.0f} minutes" if seconds >= 90 else f"{seconds:.0f} s"


def overview(plan: ShardPlan, wanted: int | None = None) -> str:
    """Return a sentence about the plan's size and time. `wanted`: the number of shards that was asked for."""
    if not plan.shares:
        return "no shards: nothing changed that an agent could notice"
    rows, trials = sum(len(share.rows) for share in plan.shares), sum(share.trials for share in plan.shares)
    longest = max(share.seconds for share in plan.shares)
    made = len(plan.shares)
    less = f" instead of {wanted}, since each has {LEAST_ROWS} rows or more on average" if made < (wanted or 0) else ""
    return (
        f"{made} shard{'s' if made > 1 else ''}{less}, for {rows} rows and {trials} screening trials; the longest "
        f"takes about {_time(longest)}, by base's history or else by time limits, without checkout and build"
    )
