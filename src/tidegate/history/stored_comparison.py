"""Compare two stored runs. Nothing is run, and no code for that is loaded."""

from __future__ import annotations

from pathlib import Path

from tidegate.decide.causes.find import find_causes
from tidegate.decide.comparison.compare import compare
from tidegate.decide.verdict.decide import decide
from tidegate.history.report_files import write_reports
from tidegate.history.run_folder import RunFolder, load_run
from tidegate.model.result import Result
from tidegate.reports.make_result import make_result
from tidegate.text.redaction import without_secrets


def compare_runs(base_folder: Path, head_folder: Path, out: Path | None) -> Result:
    """Compare two stored runs in one shot, since no further trials can be run."""
    base, head = load_run(base_folder).as_side("base"), load_run(head_folder).as_side("head")
    comparison = compare(base, head, stored=True)
    result = make_result(comparison, decide(comparison, head.policy), base, head)
    result = without_secrets(result.model_copy(update={"causes": find_causes(result.rows, result.trials)}))
    if out is not None:
        write_reports(result, out, {"base": RunFolder.at(base_folder), "head": RunFolder.at(head_folder)})
    return result
