"""The matrix of a workflow's jobs, one per shard."""

from __future__ import annotations

import json

from tidegate.model.shard import ShardPlan


def matrix(plan: ShardPlan) -> str:
    """Return the matrix as JSON for `fromJSON`. `shard` is what `tidegate shard` takes, `name` is for artifacts."""
    of = len(plan.shares)
    return json.dumps({"include": [{"shard": f"{n}/{of}", "name": f"{n}-of-{of}"} for n in range(1, of + 1)]})


def overview(plan: ShardPlan) -> str:
    """Return a sentence about the plan's size and time."""
    if not plan.shares:
        return "no shards: nothing changed that an agent could notice"
    rows, trials = sum(len(share.rows) for share in plan.shares), sum(share.trials for share in plan.shares)
    longest = max(share.seconds for share in plan.shares)
    return (
        f"{len(plan.shares)} shards for {rows} rows and {trials} screening trials; the longest takes about "
        f"{longest / 60:.1f} minutes, without checkout and build"
    )
