"""Split a pull request's screening over several jobs: plan the shards, and run one of them."""

from __future__ import annotations

import argparse
import heapq
import json
import math
import os
import time
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from statistics import fmean, median
from typing import NamedTuple

from pydantic import ValidationError

from tidegate import __version__
from tidegate.decide.comparison.compare import past_by_row
from tidegate.decide.procedure.steps import State, shard_trials, start
from tidegate.errors import CannotRunError, ConfigurationError
from tidegate.history.known_results import Known, KnownResults
from tidegate.model.bundle import BundleContents, ShardPlan, Share
from tidegate.model.measurement import PastTrial, TrialResult
from tidegate.model.plan import Plan, PlanRow, RowKey, key_of
from tidegate.model.revision import Revision
from tidegate.model.run_row import RunRow
from tidegate.model.suite import DEFAULT_TIMEOUT_SECS
from tidegate.model.trial_spec import TrialSpec
from tidegate.run.adaptive_run import with_replays
from tidegate.run.bundle import bundle_name, write_results
from tidegate.run.checkouts import RevisionPair, commits_of, scratch_folder, two_sides
from tidegate.run.join import join
from tidegate.run.pull_request_job import load_pull_request
from tidegate.run.replays import Begun, replay_first
from tidegate.run.run_job import Options, RunJob, runner_of
from tidegate.run.runner import Runner
from tidegate.run.surface_survey import Surveys
from tidegate.vcs.revisions import ForeignCommits

PLAN_FILE = "plan.json"
ONCE_MORE = "Run `tidegate plan` again, and every shard with its plan."


MOST_JOBS = 256  # of one matrix, GitHub's limit


def add_shards(parser: argparse.ArgumentParser) -> None:
    """Add `--shards` and `--minutes`."""
    parser.add_argument(
        "--shards",
        type=number_of_shards,
        metavar="N|auto",
        help="how many; auto: as many as --minutes needs (default: auto)",
    )
    parser.add_argument(
        "--minutes",
        type=_minutes,
        default=10.0,
        metavar="GOAL",
        help="with auto, the minutes within which the trials of every shard should end (default: %(default)g)",
    )


def add_shard(parser: argparse.ArgumentParser) -> None:
    """Add the positional argument `I/N`."""
    parser.add_argument("shard", type=shard, metavar="I/N", help="which shard, as in the matrix: 2/3")


def number_of_shards(text: str) -> int | None:
    """Parse a number from 1 to 256, or `auto`, which is None."""
    if text == "auto":
        return None
    if not (text.isdecimal() and 1 <= int(text) <= MOST_JOBS):
        raise argparse.ArgumentTypeError(f"{text!r} is neither auto nor from 1 to {MOST_JOBS}, the jobs of a matrix")
    return int(text)


def shard(text: str) -> tuple[int, int]:
    """Parse `2/3`."""
    number, _, of = text.partition("/")
    if not (number.isdecimal() and of.isdecimal() and 1 <= int(number) <= int(of)):
        raise argparse.ArgumentTypeError(f"{text!r} is not I/N with I from 1 to N, such as 2/3")
    return int(number), int(of)


def _minutes(text: str) -> float:
    number = float(text)
    if not 0 < number <= 1440:
        raise argparse.ArgumentTypeError("must be above 0 and at most a day")
    return number


LEAST_ROWS = 2  # rows per shard on average: a job for a single short row spends its time on the build


class Load(NamedTuple):
    """A row with its number of screening trials, and the seconds that they take one after the other."""

    key: RowKey
    trials: int
    seconds: float


def seconds_of_trials(known: Mapping[RowKey, float], limits: Mapping[RowKey, float]) -> dict[RowKey, float]:
    """Return the seconds of one trial of each row in `limits`: those in `known`, the mean of its history.

    A row without a history is taken to need the median of the others; if no row has one, its time limit.
    """
    usual = median(known.values()) if known else None
    return {key: known.get(key, limit if usual is None else usual) for key, limit in limits.items()}


def most_shards(rows: int) -> int:
    """Return the largest number of shards for so many rows."""
    return max(1, min(MOST_JOBS, rows // LEAST_ROWS))


def longest_first(loads: Sequence[Load], count: int) -> list[list[Load]]:
    """Return `count` lists of rows: each row, the longest first, goes to the list with the least time so far."""
    shards: list[list[Load]] = [[] for _ in range(count)]
    times = [(0.0, 0, number) for number in range(count)]
    for load in sorted(loads, key=lambda load: (-load.seconds, str(load.key))):
        seconds, rows, number = heapq.heappop(times)
        shards[number].append(load)
        heapq.heappush(times, (seconds + load.seconds, rows + 1, number))
    return shards


def makespan(shards: Sequence[Sequence[Load]], jobs: int) -> float:
    """Return the seconds of the longest shard, whose trials run `jobs` at once."""
    return max((max(sum(load.seconds for load in shard) / jobs, _longest(shard)) for shard in shards), default=0.0)


def in_rounds(
    specs: Sequence[TrialSpec], seconds: Mapping[RowKey, float], turns: Mapping[RowKey, int]
) -> list[TrialSpec]:
    """Return a shard's trials in rounds, the longest of each round first, and those of added rows last.

    `seconds` is a trial's time, `turns` is `RunRow.turn`.
    """
    return sorted(specs, key=lambda spec: (turns[key_of(spec)], spec.index, -seconds[key_of(spec)]))


def shards_for(loads: Sequence[Load], goal: float, jobs: int) -> int:
    """Return the least number of shards that takes `goal` seconds at most, or the largest number if none does.

    No shard is shorter than its longest trial, so more shards than that one needs are of no use.
    """
    most, goal = most_shards(len(loads)), max(goal, _longest(loads))
    first = math.ceil(sum(load.seconds for load in loads) / jobs / (goal or 1))
    for count in range(min(max(first, 1), most), most + 1):
        if makespan(longest_first(loads, count), jobs) <= goal:
            return count
    return most


def _longest(loads: Sequence[Load]) -> float:
    """Return the seconds of the longest trial."""
    return max((load.seconds / load.trials for load in loads if load.trials), default=0.0)


def matrix(plan: ShardPlan) -> str:
    """Return the matrix as JSON for `fromJSON`. `shard` is what `tidegate shard` takes, `name` is for artifacts."""
    of = len(plan.shares)
    return json.dumps({"include": [{"shard": f"{n}/{of}", "name": f"{n}-of-{of}"} for n in range(1, of + 1)]})


def _time(seconds: float) -> str:
    return f"{seconds / 60:.0f} minutes" if seconds >= 90 else f"{seconds:.0f} s"


def overview(plan: ShardPlan) -> str:
    """Return a sentence about the plan's size and time."""
    if not plan.shares:
        return "no shards: nothing changed that an agent could notice"
    rows, trials = sum(len(share.rows) for share in plan.shares), sum(share.trials for share in plan.shares)
    longest = max(share.seconds for share in plan.shares)
    made = len(plan.shares)
    return (
        f"{made} shard{'s' if made > 1 else ''}, for {rows} rows and {trials} screening trials; the longest "
        f"takes about {_time(longest)}, by base's history or else by time limits, without checkout and build"
    )


class ShardsWanted(NamedTuple):
    """How many shards are wanted; None: as many as it takes for the slowest to end within `goal_s` seconds."""

    shards: int | None
    goal_s: float


def make_shard_plan(repo: Path, work: RunJob, target: Revision, options: Options, wanted: ShardsWanted) -> ShardPlan:
    """Return which shard screens which rows. No agent is run, and nothing is built."""
    base, head = (side.revision for side in work.sides)
    return ShardPlan(
        tidegate_version=__version__,
        config=options.config,
        target=target.sha,
        base=base.sha,
        head=head.sha,
        names=(base.ref, head.ref),
        suite_hash=work.suite_hash,
        budget=work.suite.budget,
        shares=shares_of(_loads(repo, work, options), wanted, jobs_of(work, options)),
    )


def shares_of(loads: Sequence[Load], wanted: ShardsWanted, jobs: int) -> tuple[Share, ...]:
    """Return the rows of each shard, for shards that run so many trials at once."""
    count = shards_for(loads, wanted.goal_s, jobs) if wanted.shards is None else wanted.shards
    shards = longest_first(loads, min(count, most_shards(len(loads)))) if loads else []
    return tuple(
        Share(
            rows=tuple(load.key for load in shard),
            trials=sum(load.trials for load in shard),
            seconds=round(sum(load.seconds for load in shard) / jobs, 1),
        )
        for shard in shards
    )


def jobs_of(work: RunJob, options: Options) -> int:
    """Return how many trials run at the same time."""
    return options.jobs or work.suite.jobs or os.cpu_count() or 1


def _loads(repo: Path, work: RunJob, options: Options) -> list[Load]:
    """Return the rows to screen with their trials and time, estimated from base's history."""
    earlier = KnownResults(repo, work.suite, {}, remembers=options.gate, origin=options.origin)
    foreign = ForeignCommits(repo, *(side.revision for side in work.sides))
    known = earlier.begin(work.fingerprints(earlier.versions()), {}, foreign)
    specs = shard_trials(state_of(work, work.rows, known))
    trials = Counter(key_of(spec) for spec in specs)
    seconds = seconds_of(work, known.past)
    return [Load(key, count, count * seconds[key]) for key, count in trials.items()]


def seconds_of(work: RunJob, past: Iterable[PastTrial | TrialResult]) -> dict[RowKey, float]:
    """Return the estimated seconds of one trial of each row, from these earlier trials."""
    return seconds_of_trials(_means(past), {row.key: _limit(row) for row in work.plan.rows})


def _limit(row: PlanRow) -> float:
    """Return the seconds that the row's agent may take."""
    return row.scenario.timeout_secs or row.agent.timeout_secs or DEFAULT_TIMEOUT_SECS


def _means(past: Iterable[PastTrial | TrialResult]) -> dict[RowKey, float]:
    """Return the mean duration of each row's trials."""
    found: dict[RowKey, list[float]] = defaultdict(list)
    for trial in past:
        if trial.metrics.duration_s is not None:
            found[trial.key].append(trial.metrics.duration_s)
    return {key: fmean(seconds) for key, seconds in found.items()}


def state_of(work: RunJob, rows: Sequence[RunRow], known: Known) -> State:
    """Return the procedure's state before any trial."""
    return start(rows, work.suite.policy, past_by_row(known.past))


async def run_shard(repo: Path, work: RunJob, plan: ShardPlan, number: int, options: Options) -> BundleContents:
    """Screen the rows of a shard on both sides, and write its bundle into the folder `options.shards`.

    A shard confirms nothing: how strictly a row is tested depends on the other shards, which only the merge knows.
    """
    began, own = time.monotonic(), part_of(work, plan, number, options)
    options.progress.stage(f"screening shard {number} of {len(plan.shares)}")
    async with runner_of(own, options) as runner:
        results = await _screened(repo, own, runner, options)
        contents = BundleContents(
            asked=plan.id,
            number=number,
            versions=runner.versions,
            trials=len(results),
            spent=runner.spent,
            seconds=round(time.monotonic() - began, 1),
        )
    assert options.shards is not None
    path = options.shards / bundle_name(number, len(plan.shares))
    write_results(path, contents, results, {side.side: side.store for side in own.sides})
    return contents


def part_of(work: RunJob, plan: ShardPlan, number: int, options: Options) -> RunJob:
    """Return the job of one shard: its rows and its part of the budget."""
    assert options.shards is not None
    require_plan_of(plan, work)
    keys = set(plan.shares[number - 1].rows)
    return replace(
        work,
        suite=work.suite.model_copy(update={"budget": plan.budget_of(number)}),
        plan=Plan(rows=tuple(row for row in work.plan.rows if row.key in keys)),
    )


async def _screened(repo: Path, own: RunJob, runner: Runner, options: Options) -> list[TrialResult]:
    """Run the screening trials of the job's rows, after replaying base's sessions."""
    earlier = KnownResults(repo, own.suite, {}, remembers=options.gate, origin=options.origin)
    foreign = ForeignCommits(repo, *(side.revision for side in own.sides))
    known = earlier.begin(own.fingerprints(runner.versions), {}, foreign)
    runner.learn(known.past)
    rows = own.rows
    begun = Begun(rows, {}, known, earlier.sessions(foreign).by_row)
    replays = await replay_first(Surveys(runner, own, options.environ.get("PATH", "")), own, begun, options)
    specs = shard_trials(state_of(own, with_replays(rows, replays), known))
    seconds = seconds_of(own, known.past)
    return await runner.run(in_rounds(specs, seconds, {row.key: row.turn for row in rows}))


def read_plan(path: Path) -> ShardPlan:
    """Return the plan in this file. Raises ConfigurationError if there is none."""
    try:
        return ShardPlan.model_validate_json(path.read_bytes())
    except OSError as error:
        raise ConfigurationError(f"{path}: {error.strerror}.", "`tidegate plan` writes it.") from None
    except ValidationError:
        raise ConfigurationError(f"{path} is not a plan of this version of Tidegate.", ONCE_MORE) from None


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
        "suite": (plan.suite_hash[:12], work.suite_hash[:12]),
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
    joined = join(options.shards, plan)
    options.progress.say(
        f"{joined.left} trials of {len(joined.bundles)} of {len(joined.plan.shares)} shards are joined"
    )
    for sentence in joined.say():
        options.progress.say(sentence)
    try:
        yield replace(work, joined=joined)
    finally:
        joined.close()


def plan_shards(root: Path, asked: RevisionPair, options: Options, wanted: ShardsWanted) -> ShardPlan:
    """Return which shards screen which rows of a pull request; no shards if there is nothing to run."""
    commits = commits_of(root, asked)
    with scratch_folder() as scratch, two_sides(root, commits, scratch, scratch / "out") as sides:
        loaded = load_pull_request(root, commits.target, sides, scratch, options)
        plan = make_shard_plan(root, loaded.job, commits.target, options, wanted)
        return plan if loaded.is_needed else plan.model_copy(update={"shares": ()})


async def one_shard(root: Path, asked: RevisionPair, plan: ShardPlan, number: int, options: Options) -> BundleContents:
    """Run one shard of the plan, and write its bundle into `options.shards`."""
    commits = commits_of(root, asked)
    with scratch_folder() as scratch, two_sides(root, commits, scratch, scratch / "out") as sides:
        loaded = load_pull_request(root, commits.target, sides, scratch, options)
        return await run_shard(root, loaded.job, plan, number, options)
