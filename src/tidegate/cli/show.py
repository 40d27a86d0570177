"""`tidegate show`: reads a stored run, as an overview or trial by trial as a story."""

from __future__ import annotations

import argparse
import json
from pathlib import Path

from tidegate.cli import options

DESCRIPTION = """\
Reads a stored run. Without a scenario: one line per trial. With one: each of its trials as a story: what the agent
did, what it got back, every call of the target with its exit code, the gates and the metrics.
"""


def add(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Register the command."""
    parser = commands.add_parser("show", help="read a stored run", description=DESCRIPTION)
    parser.add_argument("stored", type=Path, metavar="RUN", help="the folder of a stored run")
    parser.add_argument("scenario", nargs="?", metavar="SCENARIO", help="tell its trials as stories")
    parser.add_argument("--agent", metavar="NAME", help="only this agent's trials")
    options.add_json(parser, "the run, or the trials with their events,")
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Print it."""
    from rich.console import Console

    from tidegate.errors import ConfigurationError
    from tidegate.reports.show import run_overview, trial_story
    from tidegate.store.directory import RunFolder, load_run

    stored = load_run(args.stored)
    console = Console()
    if args.scenario is None:
        print(stored.model_dump_json(indent=2)) if args.json else console.print(run_overview(stored))
        return 0
    trials = [trial for trial in stored.trials if trial.scenario == args.scenario and args.agent in (None, trial.agent)]
    if not trials:
        names = ", ".join(sorted({trial.scenario for trial in stored.trials})) or "none"
        raise ConfigurationError(f"the run has no trial of `{args.scenario}`.", f"It has: {names}.")
    folder = RunFolder.at(args.stored)
    if args.json:
        told = [
            {
                **trial.model_dump(mode="json"),
                "events": [event.model_dump(mode="json") for event in folder.events(trial.spec)],
            }
            for trial in trials
        ]
        print(json.dumps(told, indent=2))
        return 0
    for trial in trials:
        console.print(trial_story(trial, tuple(folder.events(trial.spec))))
    return 0
