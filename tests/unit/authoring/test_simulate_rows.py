"""Whole runs, simulated: rows that are wrongly called deterministic, and trials that are lost."""

from __future__ import annotations

from tests.simulated_rows import Chances, simulate_runs


def test_a_tool_that_fails_at_random_is_found_out_by_its_history() -> None:
    rates = (0.5,) * 4
    first, *_, last = simulate_runs(Chances(rates, rates, deterministic=True), 0, runs=6, count=60)
    assert first.blocked > 0.03
    assert last.blocked < first.blocked


def test_what_only_head_loses_is_never_green() -> None:
    steady = (1.0,) * 3
    (end,) = simulate_runs(Chances(steady, (0.3, 1.0, 1.0), lost_head=1.0), 40, runs=1, count=400)
    assert end.blocked + end.unproven + end.amber >= 0.97 - 0.03  # 3 of 100 pass in all three trials of the screening
    assert end.blocked > 0.8


def test_a_steady_tool_that_is_called_deterministic_is_never_blocked() -> None:
    rates = (1.0,) * 3
    ends = simulate_runs(Chances(rates, rates, deterministic=True), 0, runs=2, count=5)
    assert [(end.blocked, end.amber, end.trials) for end in ends] == [(0.0, 0.0, 6.0)] * 2


def test_a_head_that_loses_most_of_its_trials_ends_with_exit_code_5_where_it_is_not_blocked() -> None:
    (end,) = simulate_runs(Chances((0.6,) * 2, (0.4,) * 2, lost_head=1.0), 10, runs=1, count=40)
    assert end.unproven > 0.4
    assert end.blocked + end.unproven + end.amber <= 1
