"""`tidegate shard` and `tidegate merge` without the plan that they need."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from tests.journeys.conftest import by_chance

Make = Callable[..., Any]


def test_mistakes_are_named(make_repository: Make, tidegate: Make) -> None:
    by_chance(repo := make_repository(), {f"keep_{number}": 0.0 for number in range(8)}, seed=1)
    nothing = tidegate("merge", cwd=repo.root)
    assert (nothing.code, "`tidegate plan` writes it" in nothing.stderr) == (2, True), nothing.stderr
    assert tidegate("plan", "--base", "main", "--head", "pr", "--shards", "2", cwd=repo.root).code == 0
    for shard, said in (("3/2", "not I/N"), ("1/3", "the plan has 2 shards")):
        wrong = tidegate("shard", shard, cwd=repo.root)
        assert (wrong.code, said in wrong.stderr) == (2, True), wrong.stderr
    repo.git("checkout", "--quiet", "pr")
    plan = json.loads((repo.root / ".tidegate/shards/plan.json").read_text())
    plan["suite_hash"] = "0" * 64
    (repo.root / ".tidegate/shards/plan.json").write_text(json.dumps(plan))
    other = tidegate("shard", "1/2", cwd=repo.root)
    assert (other.code, "the plan is of another suite" in other.stderr) == (2, True), other.stderr
