"""The judge's results as lines of text, and its calibration as a table."""

from __future__ import annotations

from collections.abc import Iterator

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from tidegate.decide.trust import criterion_name, judgements, not_judged
from tidegate.model.judge_result import Calibration, JudgeReport, Trust
from tidegate.model.measurement import TrialResult
from tidegate.reports.filters import count, money, percent
from tidegate.text.safe import one_line
from tidegate.text.scores import score_text
from tidegate.text.shorten import shortened


def trial_lines(trial: TrialResult) -> Iterator[str]:
    """Yield a trial's criteria with score and reason, the judge's confidence, issues and highlights, or why it was not
    judged.
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


FEW = 50  # labels; with fewer, the report warns that the intervals are wide
_KAPPA = ((0.8, "almost perfect"), (0.6, "substantial"), (0.4, "moderate"), (0.2, "fair"), (0.0, "slight"))


def calibration_report(found: Calibration) -> RenderableType:
    """Return agreement, kappa, the table of labels, and every disagreement."""
    return Group(*_parts(found))


def kappa_words(kappa: float) -> str:
    """Return the usual name of a kappa, such as `substantial` for 0.7 (Landis & Koch 1977, Biometrics 33, 165)."""
    return next((words for least, words in _KAPPA if kappa >= least), "worse than chance")


def _parts(found: Calibration) -> Iterator[RenderableType]:
    low, high = found.agreement_interval
    yield Text(f"{found.model}, on {count(found.labels, 'label')}", style="bold")
    yield f"agrees with people in {percent(found.agreement)} (95% interval {percent(low)} to {percent(high)})"
    if found.kappa is None:
        yield "Cohen's kappa says nothing here: all labels, or all opinions, are the same"
    else:
        yield f"Cohen's kappa {found.kappa:.2f} ({kappa_words(found.kappa)})"
    if found.panel_agreement is not None:
        yield f"its judges agree with each other in {percent(found.panel_agreement)}"
    if found.self_consistency is not None:
        yield f"agrees with itself in {percent(found.self_consistency)}"
    if found.labels < FEW:
        yield Text(f"fewer than {FEW} labels: the intervals are wide", style="yellow")
    if found.unused:
        yield Text(f"{count(found.unused, 'label')} of what it has not judged", style="yellow")
    yield _table(found)
    for criterion in found.criteria:
        yield Text(f"  {criterion.criterion}: {percent(criterion.agreement)} of {count(criterion.labels, 'label')}")
    if found.disagreements:
        yield Text("where they differ:", style="bold")
    for one in found.disagreements:
        yield Text(
            f"  {one.trial} {one.criterion}: a person says {one.person}, the judge {one.judge} ({one.score:.2f})"
        )
        if one.reason:
            yield Text(f"    {shortened(one_line(one.reason), 200)}", style="dim")


def _table(found: Calibration) -> Table:
    table = Table("", "judge: met", "judge: unmet", box=None, pad_edge=False, padding=(0, 2, 0, 0))
    for person in ("met", "unmet"):
        table.add_row(f"person: {person}", *(str(found.table[f"{person}/{judge}"]) for judge in ("met", "unmet")))
    return table
