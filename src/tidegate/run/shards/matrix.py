"""The matrix of a workflow's jobs, one per shard."""

from __future__ import annotations

import json

from tidegate.model.bundle import ShardPlan
from tidegate.run.shards.assign import LEAST_ROWS


def matrix(plan: ShardPlan) -> str:
    """Return the matrix as JSON for `fromJSON`. `shard` is what `tidegate shard` takes, `name` is for artifacts."""
    of = len(plan.shares)
    return json.dumps({"include": [{"shard": f"{n}/{of}", "name": f"{n}-of-{of}"} for n in range(1, of + 1)]})


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
