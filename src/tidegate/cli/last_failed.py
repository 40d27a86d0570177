"""The rows that did not pass last time, for `--lf`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from tidegate.history.run_folder import PULL_REQUEST_FILE, RUN_FILE, load_run

if TYPE_CHECKING:
    from tidegate.model.measurement import Run
    from tidegate.model.plan import RowKey
    from tidegate.model.progress import Progress

_FAILED = frozenset({"regressed", "unconfirmed", "not_measured"})


def failed_rows(folder: Path) -> tuple[RowKey, ...]:
    """Return the rows that failed in the comparison that `tidegate pr` stored in `folder`; none if there is none."""
    if not (folder / PULL_REQUEST_FILE).is_file():
        return ()
    from tidegate.history.report_files import load_result  # 200 ms

    return tuple(row.key for row in load_result(folder).rows if row.state in _FAILED)


def failed_in_newest_run(runs: Path) -> tuple[RowKey, ...]:
    """Return the rows without a passed trial, or with a failed one, of the newest run; none if there is no run."""
    run = newest_run(runs)
    if run is None:
        return ()
    decided = {row.key: [trial.decides for trial in run.trials if trial.key == row.key] for row in run.rows}
    return tuple(key for key, outcomes in decided.items() if set(outcomes) != {"pass"})


def newest_run(*runs: Path) -> Run | None:
    """Return the newest run that is stored in these folders; None if there is none."""
    found = [path for folder in runs for path in folder.glob(f"*/{RUN_FILE}")]
    stored = sorted(found, key=lambda path: path.stat().st_mtime)
    return load_run(stored[-1]) if stored else None


def say_last_failed(rows: tuple[RowKey, ...], progress: Progress) -> None:
    """Report what `--lf` selects."""
    if rows:
        progress.say(f"--lf: only what did not pass last time: {', '.join(map(str, rows))}")
    else:
        progress.say("--lf: nothing failed last time, so every row is run")
