"""Chooses what to label by hand: the judge's most doubtful opinions come first."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import NamedTuple

from tidegate.decide.comparison.judgements import criterion_name, judgements
from tidegate.model.calibration import Label
from tidegate.model.evaluator import CriterionScore
from tidegate.model.measurement import TrialResult


class Item(NamedTuple):
    """One criterion of one trial, with its description. The judge's opinion is not part of it."""

    trial: TrialResult
    criterion: str
    description: str


def items(
    trials: Iterable[TrialResult], labels: Iterable[Label], unconfirmed: Collection[tuple[str, str]] = ()
) -> list[Item]:
    """Return the criteria without a label, the most doubtful first. `unconfirmed` holds rows (scenario, agent).

    Criteria whose samples disagree come first, then unmet criteria (all gates of the trial passed), then
    unconfirmed rows.
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
    """Return the sort key. `met` is the lowest score that counts as met.

    Criteria whose samples may lie on both sides of `met`, judging by score and spread, come first.
    """
    split = one.spread > 0 and one.score - one.spread < met <= one.score + one.spread
    return not split, -one.spread, one.score >= met, not unconfirmed


def without_opinions(trial: TrialResult) -> TrialResult:
    """Return the trial without its side and without any model's opinion, both of which would influence a person.

    The outcome is `pass`, since a judge is only asked about trials that passed all required gates.
    """
    return trial.model_copy(
        update={
            "id": trial.id.partition("/")[2],
            "judge": None,
            "evaluators": tuple(result for result in trial.evaluators if not result.judged),
            "outcome": "pass",
            "reason": "all required gates passed",
            "metrics": trial.metrics.model_copy(update={"case_score": None, "judge_score": None}),
        }
    )
