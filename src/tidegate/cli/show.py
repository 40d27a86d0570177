"""`tidegate show`: prints a stored run as an overview, or the transcripts of its trials."""

from __future__ import annotations

import argparse
from pathlib import Path

from rich.console import Console

from tidegate.errors import ConfigurationError
from tidegate.history.report_files import load_result
from tidegate.history.run_folder import RunFolder, load_run, run_places
from tidegate.reports.for_agent import for_agent
from tidegate.reports.show import run_overview, trial_story

DESCRIPTION = """\
Shows a stored run. Without a scenario: one line per trial. With one: the transcript of each of its trials, with every
call of the tool under test and its exit code, the gates and the metrics. With --for-agent: a text about the regressions
for a coding agent that fixes them.
"""


def add(parser: argparse.ArgumentParser) -> None:
    """Add its arguments."""
    parser.add_argument("stored", type=Path, metavar="RUN", help="the folder of a stored run, or of `tidegate pr`")
    parser.add_argument("scenario", nargs="?", metavar="SCENARIO", help="show the transcripts of its trials")
    parser.add_argument("--agent", metavar="NAME", help="only this agent's trials")
    parser.add_argument(
        "--for-agent",
        action="store_true",
        help="print task, cause, diff, first divergence and how to verify a fix; RUN is the folder of `tidegate pr`",
    )


def run(args: argparse.Namespace) -> int:
    """Print the run. For a folder of `tidegate pr`, print base, then head."""

    if args.for_agent:
        return _print_for_agent(args.stored)
    places = run_places(args.stored)
    for place in places:
        _show(args, place, both=len(places) > 1)
    return 0


def _print_for_agent(folder: Path) -> int:

    print(for_agent(load_result(folder)) or "Nothing regressed.")
    return 0


def _show(args: argparse.Namespace, place: Path, *, both: bool) -> None:
    """Print one run, or its trials of the scenario."""

    stored = load_run(place)
    console = Console()
    if args.scenario is None:
        console.print(run_overview(stored))
        return
    trials = [trial for trial in stored.trials if trial.scenario == args.scenario and args.agent in (None, trial.agent)]
    if not trials and not (both and any(row.scenario == args.scenario for row in stored.rows)):
        names = ", ".join(sorted({trial.scenario for trial in stored.trials})) or "none"
        raise ConfigurationError(f"the run has no trial of `{args.scenario}`.", f"It has: {names}.")
    folder = RunFolder.at(place)
    for trial in trials:
        console.print(trial_story(trial, tuple(folder.events(trial.spec))))
