"""Rows go to shards by time, the longest first."""

from __future__ import annotations

from random import Random

import pytest

from tests import make
from tidegate.model.plan import RowKey
from tidegate.run.sharding import (
    Load,
    in_rounds,
    longest_first,
    makespan,
    most_shards,
    seconds_of_trials,
    shards_for,
)


def loads(*seconds: float, trials: int = 1) -> list[Load]:
    return [Load(RowKey(scenario=f"s{n:04}", agent="a"), trials, time) for n, time in enumerate(seconds)]


def key(number: int) -> RowKey:
    return RowKey(scenario=f"s{number:04}", agent="a")


def test_each_row_goes_to_the_shard_with_the_least_time_the_longest_first() -> None:
    shards = longest_first(loads(1, 7, 2, 5, 4), 2)
    assert [[load.seconds for load in shard] for shard in shards] == [[7, 2, 1], [5, 4]]


def test_trials_of_added_rows_come_last_however_long_they_are() -> None:
    """They must not use up the money of the judge, nor another limit, before those of base."""
    specs = [make.spec(scenario=f"s{n:04}", agent="a", index=index) for index in (1, 2) for n in range(3)]
    ordered = in_rounds(specs, {key(0): 1, key(1): 2, key(2): 99}, {key(0): 0, key(1): 0, key(2): 1})
    assert [f"{one.scenario[-1]}/{one.index}" for one in ordered] == ["1/1", "0/1", "1/2", "0/2", "2/1", "2/2"]


def test_rows_that_take_no_time_are_spread_too() -> None:
    assert [len(shard) for shard in longest_first(loads(*[0] * 9), 3)] == [3, 3, 3]


def test_the_same_rows_in_another_order_are_assigned_alike() -> None:
    rows = loads(*[3] * 8, *[1] * 9)
    mixed = Random(1).sample(rows, len(rows))
    assert longest_first(mixed, 4) == longest_first(rows, 4)


def test_a_shard_has_a_single_row_only_if_it_is_a_long_one() -> None:
    for seed in range(200):
        chance = Random(seed)
        rows = loads(*(chance.choice([1, 2, 5, 30]) for _ in range(chance.randint(2, 30))))
        shards = longest_first(rows, chance.randint(1, most_shards(len(rows))))
        least = min(sum(load.seconds for load in shard) for shard in shards)
        assert all(shard for shard in shards)
        assert all(len(shard) > 1 or shard[0].seconds >= least for shard in shards)


@pytest.mark.parametrize(("rows", "most"), [(0, 1), (1, 1), (3, 1), (4, 2), (600, 256)])
def test_there_are_at_most_256_jobs_and_half_as_many_as_rows(rows: int, most: int) -> None:
    assert most_shards(rows) == most


def test_a_row_without_history_takes_the_median_of_the_others_or_else_its_limit() -> None:
    limits = {key(0): 600.0, key(1): 600.0, key(2): 60.0}
    assert seconds_of_trials({key(0): 5.0, key(9): 7.0}, limits) == {key(0): 5.0, key(1): 6.0, key(2): 6.0}
    assert seconds_of_trials({}, limits) == limits


@pytest.mark.parametrize(("goal", "jobs", "count"), [(1000, 1, 1), (100, 1, 4), (100, 4, 1), (25, 4, 4), (1, 1, 20)])
def test_a_goal_takes_the_least_number_of_shards_that_reaches_it(goal: float, jobs: int, count: int) -> None:
    assert shards_for(loads(*[10.0] * 40, trials=5), goal, jobs) == count


def test_a_single_trial_that_takes_longer_than_the_goal_does_not_ask_for_every_job() -> None:
    rows = loads(500.0, *[1.0] * 39)
    assert makespan(longest_first(rows, 2), 4) == 500
    assert shards_for(rows, 100, 4) == 1
