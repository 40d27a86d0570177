"""Lines of text about the judge's results."""

from __future__ import annotations

from collections.abc import Iterator

from tidegate.decide.comparison.judgements import criterion_name, judgements, not_judged
from tidegate.model.judge_result import JudgeReport, Trust
from tidegate.model.measurement import TrialResult
from tidegate.reports.filters import count, money, percent
from tidegate.text.scores import score_text


def trial_lines(trial: TrialResult) -> Iterator[str]:
    """Yield a trial's criteria with score and reason, the judge's confidence, issues and highlights, then notes on odd
    answers, and why it was not judged.
    """
    for evaluator, said in judgements(trial).items():
        for one in said.criteria:
            apart = f" (samples differ by {one.spread:.2f})" if one.spread else ""
            reason = f": {one.reason}" if one.reason else ""
            yield f"{criterion_name(evaluator, one.id)} {score_text(one.score)}{apart}{reason}"
        if said.confidence is not None:
            yield f"confidence {score_text(said.confidence)}"
        yield from (f"issue: {issue}" for issue in said.issues)
        yield from (f"highlight: {highlight}" for highlight in said.highlights)
        yield from said.notes
    if why := not_judged(trial):
        yield f"not judged: {why}"


def judge_facts(found: JudgeReport) -> Iterator[tuple[str, str]]:
    """Yield (label, text) pairs for the whole run: model, calls and cost, agreement with itself and with people."""
    judge = found.judge
    samples = f", {judge.samples} samples" if judge.samples > 1 else ""
    yield "judge", f"{judge.model} ({judge.type}{samples}{', counts' if judge.blocks else ', warns'})"
    lost = f", {found.not_judged} not" if found.not_judged else ""
    yield "judged", f"{count(found.judged, 'trial')}{lost}"
    known = f", {count(found.cached, 'answer')} known before" if found.cached else ""
    cost = f", {money(found.usd)}" if found.calls else ""
    yield "judge's cost", f"{count(found.calls, 'call')}{known}{cost}"
    if found.agreement is not None:
        yield "agrees with itself", percent(found.agreement)
    if found.panel_agreement is not None:
        yield "the panel's judges agree", percent(found.panel_agreement)
    yield "calibration", calibrated(judge.trust)


def calibrated(trust: Trust | None) -> str:
    """Return how often people agree with the judge, and for how many of the criteria there are labels."""
    if trust is None:
        return "not calibrated"
    if not trust.labels:
        return "not calibrated for these criteria: the labels are of others, or of another model"
    kappa = "" if trust.kappa is None else f" (kappa {trust.kappa:.2f})"
    labels = f"calibrated on {count(trust.labels, 'label')}"
    of = "these criteria"
    if trust.without:
        of = f"{trust.criteria} of {of}; {count(trust.without, 'criterion has', 'criteria have')} none"
    return f"agrees with people {percent(trust.agreement)}{kappa}, {labels} of {of}"
