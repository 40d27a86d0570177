"""What shards screen and a merge decides equals what one machine decides, for the same outcomes of the same trials."""

from __future__ import annotations

from collections.abc import Sequence
from random import Random

import pytest

from tests import make
from tidegate.decide.procedure.observed import Past
from tidegate.decide.procedure.row_states import Conclusion
from tidegate.decide.procedure.steps import (
    State,
    conclude,
    next_step,
    observe,
    shard_trials,
    start,
)
from tidegate.model.measurement import TrialResult
from tidegate.model.run_row import RunRow
from tidegate.model.suite import Policy, TrialCounts
from tidegate.model.trial_spec import TrialSpec

SHARDS = 4


class PullRequest:
    """Random rows, some worse on head, and trials whose outcome depends on seed, row, side and index alone."""

    def __init__(self, seed: int) -> None:
        chance = Random(seed)
        self.seed = seed
        self.own: list[TrialResult] = []  # what the merge has to run, but for the screening
        self.policy = Policy(
            preset=chance.choice(["quick", "standard", "standard", "thorough"]),
            fail_fast=chance.random() < 0.4,
            suite=chance.choice(["off", "warn", "block"]),
        )
        self.rows: list[RunRow] = []
        self.rates: dict[str, dict[str, float]] = {}
        past = {}
        for number in range(chance.randint(2, 6)):
            row = RunRow(
                scenario=f"s{number}",
                agent="a",
                deterministic=chance.random() < 0.2,
                presence=chance.choice(["both"] * 9 + ["added"]),
                trials=TrialCounts(max=chance.choice([None, None, 12])),
            )
            base = chance.choice([1.0, 1.0, 0.95, 0.8, 0.5])
            self.rows.append(row)
            self.rates[row.scenario] = {"base": base, "head": base * chance.choice([1, 1, 1, 1, 0.5, 0])}
            length = chance.choice([0, 12, 40, 40])
            past[row.key] = Past([chance.random() < base for _ in range(length)])
        self.past = past

    def start(self, rows: Sequence[RunRow]) -> State:
        return start(rows, self.policy, self.past)

    def result(self, spec: TrialSpec) -> TrialResult:
        chance = Random(f"{self.seed} {spec.id}")
        if chance.random() < 0.03:
            lost = chance.choice(["record_lost", "outage"])
            return make.trial_result(**spec.model_dump(), outcome=None, decides=None, not_measured=lost)
        passed = chance.random() < self.rates[spec.scenario][spec.side]
        return make.trial_result(**spec.model_dump(), outcome="pass" if passed else "fail")

    def decided(self, known: dict[str, TrialResult]) -> tuple[State, tuple[Conclusion, ...]]:
        """Play the whole procedure. Trials in `known` have been run by shards."""
        state = self.start(self.rows)
        while step := next_step(state):
            shards = [known.pop(spec.id) for spec in step if spec.id in known and known[spec.id].spec == spec]
            found = {result.spec for result in shards}
            own = [self.result(spec) for spec in step if spec not in found]
            self.own += [result for result in own if result.phase != "screen"]
            state = observe(state, [*shards, *own])
        return state, conclude(state)

    def screened(self) -> dict[str, TrialResult]:
        """What the shards run, each knowing its own rows alone."""
        shares = [self.rows[number::SHARDS] for number in range(SHARDS)]
        return {spec.id: self.result(spec) for rows in shares for spec in shard_trials(self.start(rows))}


@pytest.mark.parametrize("first", range(0, 200, 50))
def test_the_same_outcomes_give_the_same_rows_and_finding_over_200_seeds(first: int) -> None:
    regressed = confirmed = 0
    for seed in range(first, first + 50):
        one, sharded = PullRequest(seed), PullRequest(seed)
        shards = sharded.screened()
        assert all(result.phase == "screen" for result in shards.values())

        alone, there = one.decided({}), sharded.decided(shards)

        assert there[1] == alone[1], f"seed {seed}"
        assert there[0].rows == alone[0].rows, f"seed {seed}: other trials"
        assert there[0].played.report.suite == alone[0].played.report.suite
        if not one.policy.fail_fast:
            assert shards == {}, f"seed {seed}: shards ran what nobody asked for"
        regressed += any(row.state == "regressed" for row in alone[1])
        confirmed += any(trial.phase != "screen" for row in alone[0].rows for trial in row.trials)
    assert regressed >= 5  # otherwise the rows would show nothing
    assert confirmed >= 20


def test_the_number_of_the_confirmation_counts_over_all_shards() -> None:
    """Rows that fail completely, one in each shard: each is tested at the level of its place among all of them."""
    pull = PullRequest(1)
    pull.policy = Policy(fail_fast=False)
    pull.rows = [RunRow(scenario=f"s{n}", agent="a", deterministic=False) for n in range(SHARDS)]
    pull.rates = {row.scenario: {"base": 1.0, "head": 0.0} for row in pull.rows}
    pull.past = {row.key: Past([True] * 40) for row in pull.rows}

    _, decided = pull.decided(pull.screened())

    levels = sorted((row.why.limit or 0 for row in decided), reverse=True)
    assert levels == pytest.approx([0.02 / 2 / (j * (j + 1)) for j in range(1, SHARDS + 1)])
