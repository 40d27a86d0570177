"""Add to the evidence what agents left in files, where no call shows what head does otherwise."""

from __future__ import annotations

from collections.abc import Mapping

from tidegate.comparison.left_behind import files_apart
from tidegate.model.comparison import Row
from tidegate.model.result import Result
from tidegate.model.trial_spec import Side
from tidegate.store.run_folder import RunFolder

_TRIALS = 3  # of base that are read, to know what varies by itself


def with_files(result: Result, stores: Mapping[Side, RunFolder]) -> Result:
    """Return the result with the files of rows that failed without a divergence of calls."""
    return result.model_copy(update={"rows": tuple(_row(row, result, stores) for row in result.rows)})


def _row(row: Row, result: Result, stores: Mapping[Side, RunFolder]) -> Row:
    found = row.evidence
    shown = next((trial for trial in result.trials if found and trial.id == found.trial), None)
    if found is None or found.divergence or shown is None or shown.side != "head" or shown.decides != "fail":
        return row
    passing = [one for one in result.trials if (one.key, one.side, one.decides) == (row.key, "base", "pass")]
    base = [stores["base"].record(trial.spec).diff for trial in passing[:_TRIALS]]
    files = files_apart(base, stores["head"].record(shown.spec).diff)
    return row.model_copy(update={"evidence": found.model_copy(update={"files": files})}) if files else row
