"""What a person should look at first: the opinions of the judge that are most in doubt."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import NamedTuple

from tidegate.calibration import opinions_of
from tidegate.judged import judgements
from tidegate.model.calibration import Label
from tidegate.model.measurement import TrialResult


class Item(NamedTuple):
    """One criterion of one trial, and in what words it is written. What the judge thinks of it is left out."""

    trial: TrialResult
    criterion: str
    description: str


def items(
    trials: Iterable[TrialResult], labels: Iterable[Label], suspicious: Collection[tuple[str, str]] = ()
) -> list[Item]:
    """What is not labelled yet, the most doubtful first; `suspicious`: rows (scenario, agent) that are in question.

    Samples that disagree come first, then criteria that fail where all gates passed, then suspicious rows.
    """
    done = {(label.trial, label.criterion) for label in labels}
    found = [
        (_rank(trial, name, suspicious), Item(trial, name, one.description))
        for trial in trials
        for name, (_, one) in opinions_of(trial).items()
        if (trial.id, name) not in done
    ]
    return [item for _, item in sorted(found, key=lambda ranked: ranked[0])]


def _rank(trial: TrialResult, name: str, suspicious: Collection[tuple[str, str]]) -> tuple[bool, float, bool, bool]:
    mark, one = opinions_of(trial)[name]
    return not _split(trial, name), -one.spread, mark == "met", (trial.scenario, trial.agent) not in suspicious


def _split(trial: TrialResult, name: str) -> bool:
    """Whether its samples fall on both sides, as far as the spread tells."""
    one = opinions_of(trial)[name][1]
    met = max((said.met for said in judgements(trial).values()), default=0.5)
    return one.spread > 0 and one.score - one.spread < met <= one.score + one.spread


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
