"""Group rows, so that a cause that several rows share is reported once."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

from tidegate.model.cause import Cause
from tidegate.model.comparison import FailedCall, Row
from tidegate.model.measurement import TrialResult
from tidegate.model.result import Result
from tidegate.model.suite import RowState
from tidegate.model.value import Value
from tidegate.reports.links import recipe

_NUMBER = re.compile(r"\d+")  # process ids, line numbers, times: they do not tell causes apart


class Finding(Value):
    """A finding in the comment: one row, or several with the same cause."""

    row: Row
    cause: Cause | None = None
    recipe: str = ""  # shell lines that reproduce it
    others: tuple[Row, ...] = ()
    calls: tuple[FailedCall, ...] = ()  # failed calls that the divergence does not show

    @property
    def amount(self) -> int:
        """Number of rows."""
        return 1 + len(self.others)


class Group(Value):
    """Rows with the same state and the same reason."""

    state: RowState
    reason: str
    rows: tuple[Row, ...]


def findings(result: Result, state: RowState) -> tuple[Finding, ...]:
    """Return the findings for the rows of that state, grouped by cause, in the result's order."""
    if not any(row.state == state for row in result.rows):
        return ()
    found: dict[object, list[Row]] = {}
    trials = {trial.id: trial for trial in result.trials}
    known = {key: cause for cause in result.causes for key in cause.rows}
    for row in result.rows:
        if row.state == state:
            shows = trials.get(row.evidence.trial) if row.evidence else None
            found.setdefault(known.get(row.key) or _cause(row, shows), []).append(row)
    return tuple(
        _finding(result, first, others).model_copy(update={"cause": known.get(first.key)})
        for first, *others in found.values()
    )


def _finding(result: Result, row: Row, others: Sequence[Row]) -> Finding:
    return Finding(
        row=row,
        recipe=recipe(result, (row, *others)),
        others=tuple(others),
        calls=tuple(_other_calls(row)),
    )


def _other_calls(row: Row) -> Iterator[FailedCall]:
    """Yield the failed calls that the divergence does not show with their output."""
    found = row.evidence
    if found:
        shown = {call.command for call in found.divergence.head_steps} if found.divergence else set()
        yield from (call for call in found.calls if call.command not in shown)


def _cause(row: Row, shows: TrialResult | None) -> object:
    """Return a key that is equal for rows with the same cause. `shows`: the trial of the row's evidence.

    Failed starts have the same cause if their messages are equal but for numbers. Regressions also need the same gate
    and the same error at the first divergent step: otherwise a gate's finding would not be reported at all.
    """
    found = row.evidence
    if row.kind != "outcome" and found:
        return (row.state, found.gate, _NUMBER.sub("0", found.message))
    first = found.divergence.head_steps[:1] if found and found.divergence else ()
    if found and first and row.state == "regressed" and first[0].status == "error" and first[0].message:
        gate = found.gate, _type_of(found.gate, shows)
        return (row.state, gate, first[0].exit_code, _NUMBER.sub("0", first[0].message))
    return row.key.scenario, row.key.agent


def _type_of(gate: str | None, trial: TrialResult | None) -> str:
    """Return the type of the required gate with that label that the trial failed; '' if unknown."""
    gates = trial.gates if trial else ()
    return next((one.type for one in gates if one.label == gate and one.required and not one.passed), "")


def groups(rows: Iterable[Row]) -> tuple[Group, ...]:
    """Return the rows grouped by state and reason, in their order."""
    found: dict[tuple[RowState, str], list[Row]] = {}
    for row in rows:
        found.setdefault((row.state, row.reason), []).append(row)
    return tuple(Group(state=state, reason=reason, rows=tuple(rows)) for (state, reason), rows in found.items())
