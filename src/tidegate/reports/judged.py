"""What the judge said, as plain lines."""

from __future__ import annotations

from collections.abc import Iterator

from tidegate.judged import criterion_name, judgements, not_judged
from tidegate.model.judgement import JudgeReport
from tidegate.model.measurement import TrialResult
from tidegate.reports.filters import count, money, percent


def trial_lines(trial: TrialResult) -> Iterator[str]:
    """A trial's: each criterion with its score and reason, and what was odd in the answers."""
    for evaluator, said in judgements(trial).items():
        for one in said.criteria:
            apart = f" (samples differ by {one.spread:.2f})" if one.spread else ""
            reason = f": {one.reason}" if one.reason else ""
            yield f"{criterion_name(evaluator, one.id)} {one.score:.2f}{apart}{reason}"
        yield from said.notes
    if why := not_judged(trial):
        yield f"not judged: {why}"


def judge_facts(found: JudgeReport) -> Iterator[tuple[str, str]]:
    """Of the whole result: model, calls and cost, agreement with itself and with people."""
    judge = found.judge
    samples = f", {judge.samples} samples" if judge.samples > 1 else ""
    yield "judge", f"{judge.model} ({judge.type}{samples}{', counts' if judge.blocks else ', warns'})"
    lost = f", {found.not_judged} not" if found.not_judged else ""
    yield "judged", f"{count(found.judged, 'trial')}{lost}"
    known = f", {count(found.cached, 'answer')} known before" if found.cached else ""
    yield "judge's cost", f"{count(found.calls, 'call')}{known}, {money(found.usd)}"
    if found.agreement is not None:
        yield "agrees with itself", percent(found.agreement)
    if trust := judge.trust:
        kappa = "" if trust.kappa is None else f", kappa {trust.kappa:.2f}"
        yield "agrees with people", f"{percent(trust.agreement)} ({count(trust.labels, 'label')}{kappa})"
