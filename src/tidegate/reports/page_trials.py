"""Build what the HTML report shows of one row's trials: a mark for each, and sums over the subcommands."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

from tidegate.decide.comparison.divergence import closest
from tidegate.model.comparison import GateCounts, Row
from tidegate.model.measurement import TrialResult
from tidegate.model.metrics import Metrics, SubcommandCounts
from tidegate.model.trial_spec import Side
from tidegate.model.value import Value
from tidegate.reports.filters import measured
from tidegate.text.noise import noisy_words


class Subcommand(Value):
    """Counts of one subcommand of the tool under test, over all trials of each side."""

    name: str
    base: SubcommandCounts
    head: SubcommandCounts


class Mark(Value):
    """A trial as a dot in a plot: its outcome, its metrics as (number, text), and the row's gates in order."""

    side: Side
    index: int
    phase: str
    outcome: str
    decides: str
    reason: str
    metrics: dict[str, tuple[float, str]]
    gates: tuple[bool | None, ...]  # None: this trial does not have the gate


def subcommands(trials: Iterable[TrialResult]) -> Iterable[Subcommand]:
    sums: dict[str, dict[Side, Counter[str]]] = {}
    for trial in trials:
        for name, counts in trial.subcommands.items():
            sides = sums.setdefault(name, {"base": Counter(), "head": Counter()})
            sides[trial.side].update(counts.model_dump())
    for name in sorted(sums):
        yield Subcommand(
            name=name, base=SubcommandCounts(**sums[name]["base"]), head=SubcommandCounts(**sums[name]["head"])
        )


def mark(trial: TrialResult, gates: Sequence[GateCounts]) -> Mark:
    measured_as = {name: getattr(trial.metrics, name) for name in Metrics.model_fields} if trial.decides else {}
    return Mark(
        side=trial.side,
        index=trial.index,
        phase=trial.phase,
        outcome=trial.outcome or "not measured",
        decides=trial.decides or "not measured",
        reason=trial.reason,
        metrics={
            name: (float(value), measured(value, name)) for name, value in measured_as.items() if value is not None
        },
        gates=_gates(trial, gates),
    )


def _gates(trial: TrialResult, gates: Sequence[GateCounts]) -> tuple[bool | None, ...]:
    """Return whether the trial passed each of the row's gates; gates with the same label are matched by order."""
    left = [(gate.label, gate.passed) for gate in trial.gates]
    found: list[bool | None] = []
    for gate in gates:
        here = next((place for place, (label, _) in enumerate(left) if label == gate.gate), None)
        found.append(None if here is None else left.pop(here)[1])
    return tuple(found)


def shown_pair(row: Row, trials: Sequence[TrialResult]) -> tuple[int, int]:
    """Return the base and the head trial that show the row best, by index; 0 for a side without trials.

    If the row has evidence, they are the two trials that its divergence was found in.
    """
    base, head = ([trial for trial in trials if trial.side == side] for side in ("base", "head"))
    evident = [trial for trial in head if row.evidence and trial.id == row.evidence.trial]
    shows = next(iter((*evident, *(trial for trial in head if trial.decides == "fail"), *head)), None)
    if shows is None:
        return next((trial.index for trial in base), 0), 0
    others = [trial for trial in base if trial.decides not in (None, shows.decides)] or base
    other = closest(shows, others, noisy_words(trials))
    return other.index if other else 0, shows.index
