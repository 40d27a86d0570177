"""Find gates that a pull request adds to a scenario and that fail on base, so that head's own failures show less."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence

from tidegate.comparison.metric_tests import RowTrials
from tidegate.model.comparison import DefinitionChange, Row
from tidegate.model.measurement import TrialResult

_PREFIX = "gate "


def hidden_by_new_gates(
    rows: Sequence[Row], sides: Sequence[RowTrials], changes: Sequence[DefinitionChange]
) -> Iterator[DefinitionChange]:
    """Yield a weakened check for each row whose base fails new gates only, and whose head fails the others more often.

    Both sides are judged by head's gates. One that fails by chance would lower base's rate until nothing is a drop.
    """
    added = _added_gates(changes)
    for row, trials in zip(rows, sides, strict=True):
        new = added.get(row.scenario)
        if new is None or row.state in ("regressed", "unconfirmed"):
            continue
        base, head = ([t for t in side if t.decides is not None] for side in (trials.base, trials.head))
        only_new = sum(_fails_only(trial, new) for trial in base)
        of_base = sum(t.decides == "fail" for t in base) - only_new
        of_head = sum(_fails_others(trial, new) for trial in head)
        if only_new and of_head * len(base) > of_base * len(head):
            detail = (
                f"new gates fail in {only_new} of {len(base)} trials on base, which hides that the others fail in "
                f"{of_head} of {len(head)} on head ({row.agent})"
            )
            yield DefinitionChange(
                scenario=row.scenario, agent=row.agent, kind="gate_changed", detail=detail, weakened=True
            )


def _added_gates(changes: Sequence[DefinitionChange]) -> Mapping[str, Counter[str]]:
    """Return the labels of the gates that are new in each scenario, with how many have it."""
    found: defaultdict[str, Counter[str]] = defaultdict(Counter)
    for change in changes:
        if change.kind == "added" and change.scenario is not None and change.detail.startswith(_PREFIX):
            found[change.scenario][change.detail.removeprefix(_PREFIX)] += 1
    return found


def _failed_gates(trial: TrialResult) -> list[str]:
    return [gate.label for gate in trial.gates if gate.required and not gate.passed]


def _fails_only(trial: TrialResult, new: Counter[str]) -> bool:
    """Return True if the trial fails, and only gates with a new one's label."""
    labels = _failed_gates(trial)
    return trial.decides == "fail" and bool(labels) and all(label in new for label in labels)


def _fails_others(trial: TrialResult, new: Counter[str]) -> bool:
    """Return True if the trial fails by anything but new gates. A label that an old gate has too counts as the old."""
    labels = Counter(gate.label for gate in trial.gates)
    ours = {label for label, count in new.items() if labels[label] <= count}
    failed = _failed_gates(trial)
    return trial.decides == "fail" and (not failed or any(label not in ours for label in failed))
