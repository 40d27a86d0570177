"""Split a pull request's screening over several jobs: plan the shards, and run one of them."""

from __future__ import annotations

import asyncio
import os
import time
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from statistics import fmean
from typing import NamedTuple

from pydantic import ValidationError

from tidegate import __version__
from tidegate.comparison.compare import past_by_row
from tidegate.errors import CannotRunError, ConfigurationError
from tidegate.history.known_results import Known, KnownResults
from tidegate.model.measurement import PastTrial, RunRow, TrialResult
from tidegate.model.plan import Plan, PlanRow, RowKey
from tidegate.model.shard import BuildContents, ShardContents, ShardPlan, Share, Spent
from tidegate.model.suite import Budget
from tidegate.model.trial import Side
from tidegate.plan import run_rows, suite_hash
from tidegate.procedure.steps import State, screening, start
from tidegate.run.adaptive_run import with_replays
from tidegate.run.build import HostEnvironment
from tidegate.run.checkouts import RevisionPair
from tidegate.run.once_built import build_path, seals, with_builds
from tidegate.run.replay_first import Begun, replay_first
from tidegate.run.run_job import Options, RunJob, runner_of
from tidegate.run.runner import Runner
from tidegate.shards.assign import Load, in_time, longest_first, most_shards, seconds_of_trials, shards_for
from tidegate.shards.build_archive import write_build
from tidegate.shards.bundle import bundle_name, write_bundle
from tidegate.shards.join import join
from tidegate.store.our_folder import make_our_folder
from tidegate.trial.agent_step import DEFAULT_TIMEOUT_SECS
from tidegate.vcs.foreign_commits import ForeignCommits
from tidegate.vcs.revisions import resolve

PLAN_FILE = "plan.json"
ONCE_MORE = "Run `tidegate plan` again, and every shard with its plan."


class Wanted(NamedTuple):
    """How many shards are wanted; None: as many as it takes for the slowest to end within `goal_s` seconds."""

    shards: int | None
    goal_s: float
    build_once: bool = False


def make_shard_plan(repo: Path, work: RunJob, asked: RevisionPair, options: Options, wanted: Wanted) -> ShardPlan:
    """Return which shard screens which rows. No agent is run, and nothing is built."""
    loads = _loads(repo, work, options)
    jobs = _jobs(work, options)
    count = shards_for(loads, wanted.goal_s, jobs) if wanted.shards is None else wanted.shards
    shards = longest_first(loads, min(count, most_shards(len(loads)))) if loads else []
    base, head = (side.revision for side in work.sides)
    return ShardPlan(
        tidegate_version=__version__,
        config=options.config,
        target=resolve(repo, asked.base).sha,
        base=base.sha,
        head=head.sha,
        names=(base.ref, head.ref),
        suite_hash=suite_hash(work.suite),
        budget=work.suite.budget,
        build_once=wanted.build_once,
        shares=tuple(
            Share(
                rows=tuple(load.key for load in shard),
                trials=sum(load.trials for load in shard),
                seconds=round(sum(load.seconds for load in shard) / jobs, 1),
            )
            for shard in shards
        ),
    )


def _jobs(work: RunJob, options: Options) -> int:
    """Return how many trials run at the same time."""
    return options.jobs or work.suite.jobs or os.cpu_count() or 1


def _loads(repo: Path, work: RunJob, options: Options) -> list[Load]:
    """Return the rows to screen with their trials and time, estimated from base's history."""
    earlier = KnownResults(repo, work.suite, {}, remembers=options.gate, origin=options.origin)
    foreign = ForeignCommits(repo, *(side.revision for side in work.sides))
    known = earlier.begin(work.fingerprints(earlier.versions()), {}, foreign)
    specs = screening(_state(work, run_rows(work.plan, work.suite), known))
    trials = Counter(RowKey(scenario=spec.scenario, agent=spec.agent) for spec in specs)
    seconds = _seconds(work, known)
    return [Load(key, count, count * seconds[key]) for key, count in trials.items()]


def _seconds(work: RunJob, known: Known) -> dict[RowKey, float]:
    """Return the estimated seconds of one trial of each row."""
    return seconds_of_trials(_means(known.past), {row.key: _limit(row) for row in work.plan.rows})


def _limit(row: PlanRow) -> float:
    """Return the seconds that the row's agent may take."""
    return row.scenario.timeout_secs or row.agent.timeout_secs or DEFAULT_TIMEOUT_SECS


def _means(past: Iterable[PastTrial]) -> dict[RowKey, float]:
    """Return the mean duration of each row's trials in base's history."""
    found: dict[RowKey, list[float]] = defaultdict(list)
    for trial in past:
        if trial.metrics.duration_s is not None:
            found[trial.key].append(trial.metrics.duration_s)
    return {key: fmean(seconds) for key, seconds in found.items()}


def _state(work: RunJob, rows: Sequence[RunRow], known: Known) -> State:
    return start(rows, work.suite.policy, past_by_row(known.past))


async def run_shard(repo: Path, work: RunJob, plan: ShardPlan, number: int, options: Options) -> ShardContents:
    """Screen the rows of a shard on both sides, and write its bundle into the folder `options.shards`.

    A shard confirms nothing: how strictly a row is tested depends on the other shards, which only the merge knows.
    """
    assert options.shards is not None
    require_plan_of(plan, work)
    work = replace(work, sides=with_builds(work.sides, plan, options.shards))
    share, began = plan.shares[number - 1], time.monotonic()
    budget = _within(work.suite.budget, plan.part_of_budget(number))
    plan_rows = tuple(row for row in work.plan.rows if row.key in set(share.rows))
    own = replace(work, suite=work.suite.model_copy(update={"budget": budget}), plan=Plan(rows=plan_rows))
    options.progress.stage(f"screening shard {number} of {len(plan.shares)}")
    async with runner_of(own, options) as runner:
        results = await _screened(repo, own, runner, options)
        spent, versions = runner.spent, runner.versions
    contents = ShardContents(
        tidegate_version=__version__,
        plan=plan.id,
        number=number,
        of=len(plan.shares),
        base=plan.base,
        head=plan.head,
        suite_hash=plan.suite_hash,
        rows=share.rows,
        versions=versions,
        trials=len(results),
        spent=spent,
        seconds=round(time.monotonic() - began, 1),
        builds=seals(work.sides),
    )
    _write(options, contents, results, own)
    return contents


async def _screened(repo: Path, own: RunJob, runner: Runner, options: Options) -> list[TrialResult]:
    """Run the screening trials of the job's rows, after replaying base's sessions."""
    earlier = KnownResults(repo, own.suite, {}, remembers=options.gate, origin=options.origin)
    foreign = ForeignCommits(repo, *(side.revision for side in own.sides))
    known = earlier.begin(own.fingerprints(runner.versions), {}, foreign)
    runner.learn(known.past)
    rows = run_rows(own.plan, own.suite)
    begun = Begun(rows, {}, known, earlier.sessions(foreign).by_row)
    replays = await replay_first(runner, own, begun, earlier, options)
    specs = screening(_state(own, with_replays(rows, replays), known))
    return await runner.run(in_time(specs, _seconds(own, known), _jobs(own, options)))


async def run_build(work: RunJob, plan: ShardPlan, side: Side, options: Options) -> BuildContents:
    """Build one side alone, and write its archive into the folder `options.shards`; a failure is a part of it."""
    assert options.shards is not None
    require_plan_of(plan, work)
    place, secrets = build_path(options.shards, side), HostEnvironment.of(options.environ, work.suite).redaction
    (checkout,) = (one for one in work.sides if one.side == side)
    async with runner_of(replace(work, plan=Plan(rows=()), sides=(checkout,)), options) as runner:
        made = BuildContents(
            tidegate_version=__version__,
            plan=plan.id,
            side=side,
            commit=checkout.revision.sha,
            seconds=runner.build_secs.get(side, 0.0),
            error=runner.build_errors.get(side),
        )
        return await asyncio.to_thread(write_build, place, made, checkout.folder, secrets)


def _write(options: Options, contents: ShardContents, results: list[TrialResult], work: RunJob) -> None:
    assert options.shards is not None
    path = options.shards / bundle_name(contents.number, contents.of)
    write_bundle(path, contents, results, {side.side: side.store for side in work.sides})


def _within(budget: Budget, part: Spent) -> Budget:
    """Return the budget with these amounts where it has limits."""
    return budget.model_copy(
        update={
            "usd": None if budget.usd is None else part.usd,
            "tokens": None if budget.tokens is None else part.tokens,
            "trials": None if budget.trials is None else part.trials,
        }
    )


def read_plan(path: Path) -> ShardPlan:
    """Return the plan in this file. Raises ConfigurationError if there is none."""
    try:
        return ShardPlan.model_validate_json(path.read_bytes())
    except OSError as error:
        raise ConfigurationError(f"{path}: {error.strerror}.", "`tidegate plan` writes it.") from None
    except ValidationError:
        raise ConfigurationError(f"{path} is not a plan of this version of Tidegate.", ONCE_MORE) from None


def shards_folder(repo: Path) -> Path:
    """Return the folder for the plan and the bundles."""
    return make_our_folder(repo) / "shards"


def require_number(plan: ShardPlan, number: int, of: int) -> None:
    """Raise ConfigurationError unless the plan has so many shards."""
    if of != len(plan.shares) or not 1 <= number <= of:
        has = f"{len(plan.shares)} shards" if len(plan.shares) != 1 else "1 shard"
        raise ConfigurationError(f"there is no shard {number}/{of}: the plan has {has}.", "Name one of its shards.")


def require_plan_of(plan: ShardPlan, work: RunJob) -> None:
    """Raise ConfigurationError unless the plan is of these commits, this suite and this version of Tidegate."""
    base, head = (side.revision.sha for side in work.sides)
    pairs = {
        "version of Tidegate": (plan.tidegate_version, __version__),
        "base": (plan.base[:12], base[:12]),
        "head": (plan.head[:12], head[:12]),
        "suite": (plan.suite_hash[:12], suite_hash(work.suite)[:12]),
    }
    for what, (its, ours) in pairs.items():
        if its != ours:
            raise ConfigurationError(f"the plan is of another {what}: {its}, and here it is {ours}.", ONCE_MORE)


@contextmanager
def joining(work: RunJob, options: Options) -> Iterator[RunJob]:
    """Yield the job with the trials of its shards, if it merges some. Raises CannotRunError if there is no plan."""
    if options.shards is None:
        yield work
        return
    path = options.shards / PLAN_FILE
    if not path.exists():
        raise CannotRunError(f"there is no plan of the shards: {path}.", "See why the job that plans them failed.")
    plan = read_plan(path)
    require_plan_of(plan, work)
    work = replace(work, sides=with_builds(work.sides, plan, options.shards))
    joined = join(options.shards, plan, seals(work.sides))
    options.progress.say(f"{joined.left} trials of {len(joined.bundles)} of {len(plan.shares)} shards are joined")
    for sentence in joined.say():
        options.progress.say(sentence)
    try:
        yield replace(work, joined=joined)
    finally:
        joined.close()
