"""Write and read the reports of a comparison, and compare two stored runs. No code that runs trials is loaded."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

from pydantic import ValidationError

from tidegate.errors import ConfigurationError
from tidegate.history.run_folder import PULL_REQUEST_FILE, RunFolder, damaged, first_error, load_run, write_text
from tidegate.model.result import Result
from tidegate.model.trial_spec import Side
from tidegate.reports.html import render_html
from tidegate.reports.make_result import make_result
from tidegate.reports.result_json import result_json
from tidegate.text.redaction import without_secrets


def load_result(folder: Path) -> Result:
    """Return the result that `tidegate pr` wrote to `folder`. Raises ConfigurationError if it is missing or damaged."""
    path = folder if folder.is_file() else folder / PULL_REQUEST_FILE
    try:
        return Result.model_validate_json(path.read_bytes())
    except OSError as error:
        advice = "Name a folder that `tidegate pr` has written, such as `.tidegate/pr`."
        raise ConfigurationError(f"{path} cannot be read: {error.strerror}.", advice) from None
    except ValidationError as error:
        raise damaged(path, first_error(error)) from None


FIX = "fix.patch"


def write_reports(result: Result, out: Path, stores: Mapping[Side, RunFolder]) -> None:
    """Write result.json, report.html and, if there is one, fix.patch, each atomically.

    The comment is written where its links are known.
    """
    write_text(out / "result.json", result_json(result))
    folders: dict[Side, str] = {side: os.path.relpath(store.folder, out) for side, store in stores.items()}
    page = render_html(result, lambda trial: stores[trial.side].record(trial.spec), folders)
    write_text(out / "report.html", page)
    if result.fix:
        write_text(out / FIX, result.fix.diff)


def rewrite_reports(result: Result, out: Path) -> None:
    """Write the reports of `pull_request` again, after a maintainer has accepted regressions."""
    sides: tuple[Side, ...] = ("base", "head")
    write_reports(result, out, {side: RunFolder(out / "runs" / side) for side in sides})


def compare_runs(base_folder: Path, head_folder: Path, out: Path | None) -> Result:
    """Compare two stored runs in one shot, since no further trials can be run."""
    # 60 ms; only here, since reports are also written where nothing was compared.
    from tidegate.decide.causes.find import find_causes
    from tidegate.decide.comparison.compare import compare
    from tidegate.decide.verdict import decide

    base, head = load_run(base_folder).as_side("base"), load_run(head_folder).as_side("head")
    comparison = compare(base, head, stored=True)
    result = make_result(comparison, decide(comparison, head.policy), base, head)
    result = without_secrets(result.model_copy(update={"causes": find_causes(result.rows, result.trials)}))
    if out is not None:
        write_reports(result, out, {"base": RunFolder.at(base_folder), "head": RunFolder.at(head_folder)})
    return result
