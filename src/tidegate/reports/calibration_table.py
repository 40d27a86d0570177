"""Render a judge's calibration for the terminal."""

from __future__ import annotations

from collections.abc import Iterator

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from tidegate.model.calibration import Calibration
from tidegate.reports.filters import count, percent
from tidegate.text.safe import one_line
from tidegate.text.shorten import shortened

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
    if found.kappa is None or found.kappa_interval is None:
        yield "Cohen's kappa says nothing here: all labels, or all opinions, are the same"
    else:
        low, high = max(-1.0, found.kappa_interval[0]), min(1.0, found.kappa_interval[1])
        words = kappa_words(found.kappa)
        yield f"Cohen's kappa {found.kappa:.2f} ({words}; 95% interval {low:.2f} to {high:.2f})"
    yield from _panel(found)
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


def _panel(found: Calibration) -> Iterator[RenderableType]:
    for judge in found.judges:
        kappa = "" if judge.kappa is None else f", kappa {judge.kappa:.2f} ({kappa_words(judge.kappa)})"
        yield Text(f"  {one_line(judge.model)} alone: agrees in {percent(judge.agreement)}{kappa}")
    if found.panel_agreement is not None:
        yield f"its judges agree with each other in {percent(found.panel_agreement)}"


def _table(found: Calibration) -> Table:
    table = Table("", "judge: met", "judge: unmet", box=None, pad_edge=False, padding=(0, 2, 0, 0))
    for person in ("met", "unmet"):
        table.add_row(f"person: {person}", *(str(found.table[f"{person}/{judge}"]) for judge in ("met", "unmet")))
    return table
