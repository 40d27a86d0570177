"""`tidegate export`: writes stored trials in the formats of other tools."""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tidegate.model.measurement import TrialResult

DESCRIPTION = """\
Writes the trials of a stored run for other tools: as ATIF v1.7 trajectories, one file each, or as OpenTelemetry spans
(GenAI conventions, OTLP JSON) in one file. They contain prompts, commands and output.
"""


def add(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Register the command."""
    parser = commands.add_parser("export", help="write stored trials as ATIF or OpenTelemetry", description=DESCRIPTION)
    parser.add_argument("stored", type=Path, metavar="RUN", help="the folder of a stored run")
    parser.add_argument("scenario", nargs="?", metavar="SCENARIO", help="only this scenario's trials")
    parser.add_argument("--agent", metavar="NAME", help="only this agent's trials")
    parser.add_argument("--format", choices=("atif", "otlp"), required=True)
    parser.add_argument("--out", type=Path, metavar="DIR", required=True, help="output folder")
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Write the files and print their paths."""
    from tidegate.errors import ConfigurationError
    from tidegate.reports.export_atif import trajectory
    from tidegate.reports.export_otlp import Told, traces
    from tidegate.store.run_folder import RunFolder, load_run, write_text

    stored, folder = load_run(args.stored), RunFolder.at(args.stored)
    chosen = [
        result
        for result in stored.trials
        if args.scenario in (None, result.scenario) and args.agent in (None, result.agent)
    ]
    if not chosen:
        names = ", ".join(sorted({str(trial.key) for trial in stored.trials})) or "none"
        raise ConfigurationError("the run has no such trial.", f"It has: {names}.")
    trials = [(result, folder.trial(result.spec), stored.agents[result.agent]) for result in chosen]
    recorded = [(result, trial, agent) for result, trial, agent in trials if trial is not None]
    if args.format == "otlp":
        told = [Told(trial, result.outcome, agent, _target(result)) for result, trial, agent in recorded]
        files = {"traces.json": traces(told)}
    else:
        files = {
            f"{folder.trial_folder(result.spec).relative_to(folder.folder)}.json": trajectory(
                trial, folder.prompt(result.spec), agent
            )
            for result, trial, agent in recorded
        }
    for name, content in files.items():
        write_text(args.out / name, json.dumps(content, ensure_ascii=False, indent=1) + "\n")
        print(args.out / name)
    if left_out := len(chosen) - len(recorded):
        print(f"{left_out} trials were never started, and have no record")
    return 0


def _target(result: TrialResult) -> str:
    """Return the first word of the first recorded call, which is the target's name; '' if there was no call."""
    return result.calls[0].command.split()[0] if result.calls else ""
