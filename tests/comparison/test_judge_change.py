"""The judge's results for both sides of a row."""

from __future__ import annotations

from tests.calibration.test_labelling import trial
from tidegate.comparison.judge_change import judge_change
from tidegate.model.judgement import PairJudgement


def pair(**fields: object) -> PairJudgement:
    return PairJudgement.model_validate({"scenario": "s", "agent": "a", "base": 1, "head": 1, **fields})


def test_a_pair_that_could_not_be_compared_is_none_of_the_wins_and_says_why() -> None:
    pairs = [pair(said={"c": "better"}), pair(problem="it was cut off"), pair(problem="busy")]
    found = judge_change([trial(1, 0.9)], [trial(1, 0.9)], pairs)
    assert found is not None
    assert (found.pairs_lost, found.pairs_reason) == (2, "it was cut off")
    assert [(won.better, won.worse, won.same) for won in found.pairs] == [(1, 0, 0)]
