"""The judgements of trials, and how far a judge can be trusted: by its own agreement, and by labels."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from statistics import fmean

from tidegate.decide.statistics.rates import wilson
from tidegate.errors import ConfigurationError
from tidegate.model.evaluator import CriterionScore, Judgement
from tidegate.model.judge_result import (
    Calibration,
    CriterionCalibration,
    Disagreement,
    Label,
    Mark,
    Trust,
)
from tidegate.model.measurement import TrialResult


def judgements(trial: TrialResult) -> dict[str, Judgement]:
    """Return the judgements of a trial by evaluator; the key '' is the scenario's own judge."""
    own = {"": trial.judge.judgement} if trial.judge else {}
    others = {result.name: result.judgement for result in trial.evaluators}
    return {name: said for name, said in (own | others).items() if said is not None}


def not_judged(trial: TrialResult) -> str:
    """Return why the judge could not judge the trial; '' if it could, or did not have to."""
    if trial.judge and trial.judge.not_measured:
        return trial.judge.reason
    if any(gate.required and not gate.passed for gate in trial.gates):
        return ""  # the judge is not run once a required gate has failed
    return next((result.reason for result in trial.evaluators if result.judged and result.score is None), "")


def agreement(trials: Iterable[TrialResult]) -> float | None:
    """Return how often the judge agreed with itself, 0..1: a mean over repeated questions; None if there are none."""
    shares = [said.agreement for trial in trials for said in judgements(trial).values()]
    known = [share for share in shares if share is not None]
    return fmean(known) if known else None


def panel_agreement(trials: Iterable[TrialResult]) -> float | None:
    """Return how often two judges of a panel agree, 0..1; None if there is no panel."""
    known = [said.panel_agreement for trial in trials for said in judgements(trial).values()]
    shares = [share for share in known if share is not None]
    return fmean(shares) if shares else None


def criterion_name(evaluator: str, criterion: str) -> str:
    """Return a criterion's name in reports and labels, with the evaluator's name as prefix: `evaluator/criterion`."""
    return criterion if not evaluator else evaluator if criterion == "score" else f"{evaluator}/{criterion}"


# --- against labels


def calibrate(labels: Sequence[Label], trials: Iterable[TrialResult], model: str) -> Calibration:
    """Compare the labels with the judge's opinions. If a criterion was labelled twice, the later label counts.

    Raises ConfigurationError if no label belongs to a judged criterion, or a trial is in two of the runs.
    """
    trials = tuple(trials)
    _refuse_doubles(trials)
    opinions = {(trial.id, name): found for trial in trials for name, found in opinions_of(trial).items()}
    latest = {(label.trial, label.criterion): label for label in labels}
    pairs = [(label, *opinions[key]) for key, label in latest.items() if key in opinions]
    if not pairs:
        known = ", ".join(sorted({f"{trial} {name}" for trial, name in opinions})[:3]) or "none at all"
        raise ConfigurationError(
            f"none of the {len(latest)} labels is of something that the judge has judged.",
            f"A label names a trial and a criterion of the run, such as: {known}.",
        )
    table = _table(pairs)
    rate = agreement_rate(table)
    assert rate is not None
    same = table["met", "met"] + table["unmet", "unmet"]
    return Calibration(
        model=model,
        labels=len(pairs),
        agreement=rate,
        agreement_interval=wilson(same, len(pairs)),
        kappa=cohens_kappa(table),
        table=_written(table),
        self_consistency=agreement(trials),
        panel_agreement=panel_agreement(trials),
        criteria=tuple(_by_criterion(pairs)),
        disagreements=tuple(_disagreement(*pair) for pair in pairs if pair[0].verdict != pair[1]),
        unused=len(latest) - len(pairs),
    )


def trust(found: Calibration | None, model: str, wordings: Collection[str]) -> Trust | None:
    """Return what a calibration shows about `model` on these criteria, or None without a calibration.

    Labels count only for criteria with the same wording, which includes the way the judge is asked.
    """
    if found is None:
        return None
    own = [one for one in found.criteria if one.wording in wordings] if found.model == model else []
    table = sum((_read(one.table) for one in own), Counter[_Said]())
    criteria = len({one.wording for one in own})
    return Trust(
        labels=table.total(),
        criteria=criteria,
        without=len(set(wordings)) - criteria,
        agreement=agreement_rate(table),
        kappa=cohens_kappa(table),
    )


_MARKS: tuple[Mark, Mark] = ("met", "unmet")
_Pair = tuple[Label, Mark, CriterionScore]
_Said = tuple[str, str]  # a person's label, the judge's opinion


def _table(pairs: Iterable[_Pair]) -> Counter[_Said]:
    return Counter((label.verdict, mark) for label, mark, _ in pairs)


def _written(table: Counter[_Said]) -> dict[str, int]:
    return {f"{person}/{judge}": table[person, judge] for person in _MARKS for judge in _MARKS}


def _read(table: Mapping[str, int]) -> Counter[_Said]:
    return Counter({(person, judge): table.get(f"{person}/{judge}", 0) for person in _MARKS for judge in _MARKS})


def _refuse_doubles(trials: Iterable[TrialResult]) -> None:
    counts = Counter(trial.id for trial in trials)
    if doubles := [name for name, times in counts.items() if times > 1]:
        raise ConfigurationError(
            f"{doubles[0]} is a trial of two of the runs, so it is unknown which one its labels belong to.",
            "Name one run, or the folder of one `tidegate pr`.",
        )


def opinions_of(trial: TrialResult) -> dict[str, tuple[Mark, CriterionScore]]:
    """Return the judge's opinion on each criterion of a trial, keyed by the name that reports and labels use."""
    return {
        criterion_name(evaluator, one.id): ("met" if one.score >= said.met else "unmet", one)
        for evaluator, said in judgements(trial).items()
        for one in said.criteria
    }


def _by_criterion(pairs: Sequence[_Pair]) -> Iterable[CriterionCalibration]:
    by_words: dict[tuple[str, str], list[_Pair]] = {}
    for pair in pairs:
        label, _, one = pair
        by_words.setdefault((label.criterion, one.wording), []).append(pair)
    for (name, wording), own in by_words.items():
        table = _table(own)
        yield CriterionCalibration(
            criterion=name,
            wording=wording,
            labels=len(own),
            agreement=agreement_rate(table) or 0.0,
            table=_written(table),
        )


def _disagreement(label: Label, mark: Mark, one: CriterionScore) -> Disagreement:
    return Disagreement(
        trial=label.trial,
        criterion=label.criterion,
        person=label.verdict,
        judge=mark,
        score=one.score,
        reason=one.reason,
    )


# --- agreement of two raters: the raw rate, and Cohen's kappa, which corrects for chance

Table = Mapping[tuple[str, str], int]
"""Counts: (first rater's label, second rater's label) → number of items."""


def agreement_rate(table: Table) -> float | None:
    """Return the share of items that both raters label alike, 0..1; None for an empty table."""
    total = sum(table.values())
    return sum(count for (one, other), count in table.items() if one == other) / total if total else None


def cohens_kappa(table: Table) -> float | None:
    """Return Cohen's kappa, −1..1 (Cohen 1960, Educ. Psychol. Meas. 20, 37–46).

    None if it is undefined: the table is empty, or both raters use one and the same label only.
    """
    total, seen = sum(table.values()), agreement_rate(table)
    first, second = Counter[str](), Counter[str]()
    for (one, other), count in table.items():
        first[one] += count
        second[other] += count
    chance = sum(count * second[word] for word, count in first.items()) / total**2 if total else 1.0
    return None if seen is None or 1 - chance < 1e-12 else (seen - chance) / (1 - chance)
