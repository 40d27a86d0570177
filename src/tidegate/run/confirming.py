"""Split the confirmation of a pull request over several jobs: plan the second matrix, and run one of its shards.

The procedure asks for its trials one batch after the other, and the merge plays it again with what the shards have run.
A shard that ran other trials than the merge asks for costs time, and changes no decision.
"""

from __future__ import annotations

import time
from collections.abc import Iterable
from pathlib import Path

from tidegate.history.known_results import KnownResults
from tidegate.model.measurement import PastTrial, TrialResult
from tidegate.model.shard import ShardContents, ShardPlan, Spent
from tidegate.model.suite import Budget
from tidegate.procedure.steps import RunTrials, State, next_step, observe
from tidegate.procedure.unconfirmed import elsewhere, only, row_of, unconfirmed
from tidegate.run.adaptive_run import enough, pause, pushes_of, with_earlier, with_replays
from tidegate.run.pace import Pace
from tidegate.run.run_job import Options, RunJob, runner_of
from tidegate.run.runner import Runner
from tidegate.run.sharding import (
    PLAN_FILE,
    Wanted,
    contents_of,
    jobs_of,
    part_of,
    read_plan,
    require_plan_of,
    seconds_of,
    shares_of,
    state_of,
    write_shard,
)
from tidegate.shards.assign import Load
from tidegate.shards.confirm_plan import ConfirmPlan
from tidegate.shards.join import Joined, join
from tidegate.vcs.foreign_commits import ForeignCommits


def make_confirm_plan(repo: Path, work: RunJob, options: Options, wanted: Wanted) -> ConfirmPlan | None:
    """Return which job confirms which rows of a screened pull request; None if one job is enough, which is the merge.

    No agent is run, and nothing is built.
    """
    assert options.shards is not None
    plan = read_plan(options.shards / PLAN_FILE)
    require_plan_of(plan, work)
    joined = join(options.shards, plan)
    try:
        return _planned(repo, work, plan, joined, (options, wanted))
    finally:
        joined.close()


def _planned(
    repo: Path, work: RunJob, plan: ShardPlan, joined: Joined, chosen: tuple[Options, Wanted]
) -> ConfirmPlan | None:
    options, wanted = chosen
    earlier = KnownResults(repo, work.suite, {}, remembers=options.gate, origin=options.origin)
    fingerprints = work.fingerprints({**earlier.versions(), **joined.versions})
    known = earlier.begin(fingerprints, {}, ForeignCommits(repo, *(side.revision for side in work.sides)))
    keys = work.test_keys(repo, fingerprints)
    pushes = pushes_of(repo, work, options, keys.values())
    rows = with_earlier(work.rows, pushes.earlier(keys) if pushes else {})
    rows = with_replays(rows, joined.replays)
    state = observe(state_of(work, rows, known), joined.results)
    seconds = seconds_of(work, (*known.past, *joined.results))
    loads = [Load(key, trials, trials * seconds[key]) for key, trials in unconfirmed(state).items()]
    budget = _left(work.suite.budget, joined.spent)
    shares = shares_of(loads, wanted, jobs_of(work, options))
    if len(shares) < 2 or budget is None:
        return None
    return ConfirmPlan(
        **plan.model_copy(update={"shares": shares, "budget": budget}).model_dump(),
        screening=plan.id,
        state=only(state, {load.key for load in loads}),
        pace=_pace((*known.past, *joined.results)).known(load.key for load in loads),
    )


def _pace(trials: Iterable[PastTrial | TrialResult]) -> Pace:
    pace = Pace()
    pace.learn(trials)
    return pace


def _left(budget: Budget, spent: Spent) -> Budget | None:
    """Return what the screening has left of the budget; None if one of its limits is reached."""
    pairs = {"usd": (budget.usd, spent.usd), "tokens": (budget.tokens, spent.tokens)}
    pairs["trials"] = (budget.trials, spent.trials)
    left = {name: limit - used for name, (limit, used) in pairs.items() if limit is not None}
    return budget.model_copy(update=left) if all(amount > 0 for amount in left.values()) else None


async def run_confirmation(work: RunJob, plan: ConfirmPlan, number: int, options: Options) -> ShardContents:
    """Run the trials that confirm the rows of a shard, and write its bundle into the folder `options.shards`."""
    began, own = time.monotonic(), part_of(work, plan, number, options)
    options.progress.stage(f"confirming shard {number} of {len(plan.shares)}")
    async with runner_of(own, options) as runner:
        runner.attempts.pace.take_over(plan.pace)
        results = await _confirmed(own, plan.state, runner, options)
        contents = contents_of(own, plan, number, runner, began)
    contents = contents.model_copy(update={"trials": len(results)})
    write_shard(own, plan, contents, results, options)
    return contents


async def _confirmed(own: RunJob, state: State, runner: Runner, options: Options) -> list[TrialResult]:
    """Run the trials that the procedure requests for the job's rows, until no more are needed."""
    rows, results = {row.key for row in own.plan.rows}, list[TrialResult]()
    while isinstance(step := next_step(state), RunTrials):
        if others := [elsewhere(spec) for spec in step.specs if row_of(spec) not in rows]:
            state = observe(state, others)
            continue
        await pause(step, results, own, options)
        batch = await runner.run(step.specs, enough(state, step, at_once=False))
        results = [*results, *batch]
        state = observe(state, batch)
    return results
