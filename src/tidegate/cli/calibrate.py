"""`tidegate calibrate`: measures how well the judge agrees with people."""

from __future__ import annotations

import argparse
from pathlib import Path

from rich.console import Console

from tidegate.decide.trust import calibrate
from tidegate.errors import ConfigurationError
from tidegate.history.run_folder import stored_runs, write_value
from tidegate.lab.labels import read_labels
from tidegate.reports.judge_summary import calibration_report

DESCRIPTION = """\
Compares labels made by people (LABELS, JSON Lines, written by `tidegate label`) with the judge's answers: agreement,
Cohen's kappa, a confusion table, how often the judge agrees with itself, and every disagreement; of a panel also how
often its judges agree with each other. The result goes to tidegate.calibration.json; commit it beside tidegate.yaml,
and reports quote it.
"""


def add(parser: argparse.ArgumentParser) -> None:
    """Add its arguments."""
    parser.add_argument("labels", type=Path, metavar="LABELS", help="file with labels, in JSON Lines")
    parser.add_argument(
        "--run",
        type=Path,
        action="append",
        dest="runs",
        metavar="RUN",
        help="a stored run, or what `tidegate pr` wrote; may be repeated (default: the folder that LABELS is in)",
    )
    parser.add_argument(
        "--out", type=Path, default=Path("tidegate.calibration.json"), metavar="FILE", help="where the result goes"
    )


def run(args: argparse.Namespace) -> int:
    """Calibrate the judge with the labels, then store and print the result."""

    labels = read_labels(args.labels)
    runs = [stored for place in args.runs or [args.labels.parent] for stored in stored_runs(place)]
    used = [stored.judge for stored in runs if stored.judge]
    judges = list(dict.fromkeys(judge.model for judge in used))
    if len(judges) != 1:
        found = ", ".join(judges) or "none"
        raise ConfigurationError(
            f"the runs have to be judged by one and the same judge, not by: {found}.", "Name others by `--run`."
        )
    trials = [trial for stored in runs for trial in stored.trials]
    calibration = calibrate(labels, trials, judges[0])
    write_value(args.out, calibration)
    Console().print(calibration_report(calibration))
    print(f"calibration: {args.out}")
    return 0
