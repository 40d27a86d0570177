"""The judgements of trials: by evaluator, how far judges agree, and why a trial has none."""

from __future__ import annotations

from collections.abc import Iterable
from statistics import fmean

from tidegate.model.evaluator import Judgement
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
