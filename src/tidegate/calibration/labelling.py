"""What a person should look at first: the opinions of the judge that are most in doubt."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import NamedTuple

from tidegate.comparison.judge_change import criterion_name, judgements
from tidegate.model.calibration import Label
from tidegate.model.judgement import CriterionScore
from tidegate.model.measurement import TrialResult


class Item(NamedTuple):
    """One criterion of one trial, and in what words it is written. What the judge thinks of it is left out."""

    trial: TrialResult
    criterion: str
    description: str


def items(
    trials: Iterable[TrialResult], labels: Iterable[Label], unconfirmed: Collection[tuple[str, str]] = ()
) -> list[Item]:
    """What is not labelled yet, the most doubtful first; `unconfirmed`: rows (scenario, agent) that are in question.

    Samples that disagree come first, then criteria that fail where all gates passed, then unconfirmed rows.
    """
    done = {(label.trial, label.criterion) for label in labels}
    found = [
        (_rank(one, said.met, (trial.scenario, trial.agent) in unconfirmed), Item(trial, name, one.description))
        for trial in trials
        for evaluator, said in judgements(trial).items()
        for one in said.criteria
        if (trial.id, name := criterion_name(evaluator, one.id)) not in done
    ]
    return [item for _, item in sorted(found, key=lambda ranked: ranked[0])]


def _rank(one: CriterionScore, met: float, unconfirmed: bool) -> tuple[bool, float, bool, bool]:
    """`met`: where met begins; those come first whose samples lie on both sides of it, as far as the spread tells."""
    split = one.spread > 0 and one.score - one.spread < met <= one.score + one.spread
    return not split, -one.spread, one.score >= met, not unconfirmed


def without_opinions(trial: TrialResult) -> TrialResult:
    """The trial without anything that a model said of it, and without its side, which a person would go by.

    It went before the judge because its gates had passed.
    """
    return trial.model_copy(
        update={
            "id": trial.id.partition("/")[2],
            "judge": None,
            "evaluators": tuple(result for result in trial.evaluators if not result.judged),
            "outcome": "pass",
            "reason": "all required gates passed",
            "metrics": trial.metrics.model_copy(update={"judge_score": None}),
        }
    )
