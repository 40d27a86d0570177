"""Write the reports of a comparison: result.json and report.html."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

from tidegate.history.run_folder import RunFolder, write_text
from tidegate.model.result import Result
from tidegate.model.trial_spec import Side
from tidegate.reports.html import render_html
from tidegate.reports.result_json import result_json

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
