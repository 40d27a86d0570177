"""Labels and judged trials → how far the judge can be trusted."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

from tidegate.errors import ConfigurationError
from tidegate.judged import agreement, criterion_name, judgements
from tidegate.model.calibration import Calibration, CriterionCalibration, Disagreement, Label, Mark
from tidegate.model.judgement import CriterionScore
from tidegate.model.measurement import TrialResult
from tidegate.statistics.agreement import agreement_rate, cohens_kappa
from tidegate.statistics.rates import wilson


def calibrate(labels: Sequence[Label], trials: Iterable[TrialResult], model: str) -> Calibration:
    """Compare each label with what the judge said of it; ConfigurationError where there is nothing to compare.

    Of two labels for one thing the later one counts.
    """
    trials = tuple(trials)
    opinions = {(trial.id, name): found for trial in trials for name, found in opinions_of(trial).items()}
    latest = {(label.trial, label.criterion): label for label in labels}
    pairs = [(label, *opinions[key]) for key, label in latest.items() if key in opinions]
    if not pairs:
        known = ", ".join(sorted({f"{trial} {name}" for trial, name in opinions})[:3]) or "none at all"
        raise ConfigurationError(
            f"none of the {len(latest)} labels is of something that the judge has judged.",
            f"A label names a trial and a criterion of the run, such as: {known}.",
        )
    table: Counter[tuple[str, str]] = Counter((label.verdict, mark) for label, mark, _ in pairs)
    rate = agreement_rate(table)
    assert rate is not None
    kappa = cohens_kappa(table)
    same = table["met", "met"] + table["unmet", "unmet"]
    return Calibration(
        model=model,
        labels=len(pairs),
        agreement=rate,
        agreement_interval=wilson(same, len(pairs)),
        kappa=kappa and kappa[0],
        kappa_interval=kappa and kappa[1],
        table={f"{person}/{judge}": table[person, judge] for person in _MARKS for judge in _MARKS},
        self_consistency=agreement(trials),
        criteria=tuple(_by_criterion(pairs)),
        disagreements=tuple(_disagreement(*pair) for pair in pairs if pair[0].verdict != pair[1]),
        unused=len(latest) - len(pairs),
    )


_MARKS: tuple[Mark, Mark] = ("met", "unmet")
_Pair = tuple[Label, Mark, CriterionScore]


def opinions_of(trial: TrialResult) -> dict[str, tuple[Mark, CriterionScore]]:
    """What the judge said of each criterion of a trial, by the name that reports and labels use."""
    return {
        criterion_name(evaluator, one.id): ("met" if one.score >= said.met else "unmet", one)
        for evaluator, said in judgements(trial).items()
        for one in said.criteria
    }


def _by_criterion(pairs: Sequence[_Pair]) -> Iterable[CriterionCalibration]:
    for name in dict.fromkeys(label.criterion for label, _, _ in pairs):
        own = [label.verdict == mark for label, mark, _ in pairs if label.criterion == name]
        yield CriterionCalibration(criterion=name, labels=len(own), agreement=sum(own) / len(own))


def _disagreement(label: Label, mark: Mark, one: CriterionScore) -> Disagreement:
    return Disagreement(
        trial=label.trial,
        criterion=label.criterion,
        person=label.verdict,
        judge=mark,
        score=one.score,
        reason=one.reason,
    )
