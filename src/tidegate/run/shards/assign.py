"""Assign rows to shards, so that all take about the same time; their arguments, and the matrix of a workflow's jobs."""

from __future__ import annotations

import argparse
import heapq
import json
import math
from collections.abc import Mapping, Sequence
from statistics import median
from typing import NamedTuple

from tidegate.model.bundle import ShardPlan
from tidegate.model.plan import RowKey
from tidegate.model.trial_spec import TrialSpec

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


def in_time(specs: Sequence[TrialSpec], seconds: Mapping[RowKey, float], jobs: int) -> list[TrialSpec]:
    """Return a shard's trials in an order in which no slot runs on alone at the end: `seconds` is a trial's time.

    They stay in rounds, but a trial starts at the latest when twice its time is left, and the last round begins with
    the longest.
    """
    times = {spec: seconds[RowKey(scenario=spec.scenario, agent=spec.agent)] for spec in specs}
    whole, rounds = sum(times.values()) / jobs, max((spec.index for spec in specs), default=1)

    def start(spec: TrialSpec) -> tuple[float, int, float]:
        its_round = whole * (spec.index - 1) / rounds
        return min(its_round, whole - 2 * times[spec]), spec.index, -times[spec] if spec.index == rounds else 0.0

    return sorted(specs, key=start)


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
