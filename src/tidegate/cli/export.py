"""`tidegate export`: writes stored trials as OpenTelemetry spans."""

from __future__ import annotations

import argparse
import json
from pathlib import Path

from tidegate.history.run_folder import RunFolder, load_run, write_text
from tidegate.model.measurement import TrialResult
from tidegate.reports.export_otlp import ExportedTrial, traces

DESCRIPTION = """\
Writes the trials of a stored run as OpenTelemetry spans (GenAI conventions, OTLP JSON) into traces.json, for other
tools. They contain prompts, commands and output.
"""


def add(parser: argparse.ArgumentParser) -> None:
    """Add its arguments."""
    parser.add_argument("stored", type=Path, metavar="RUN", help="the folder of a stored run")
    parser.add_argument("--out", type=Path, metavar="DIR", required=True, help="output folder")


def run(args: argparse.Namespace) -> int:
    """Write the file and print its path."""

    stored, folder = load_run(args.stored), RunFolder.at(args.stored)
    trials = [(result, folder.trial(result.spec), stored.agents[result.agent]) for result in stored.trials]
    recorded = [(result, trial, agent) for result, trial, agent in trials if trial is not None]
    told = [ExportedTrial(trial, result.outcome, agent, _target(result)) for result, trial, agent in recorded]
    write_text(args.out / "traces.json", json.dumps(traces(told), ensure_ascii=False, indent=1) + "\n")
    print(args.out / "traces.json")
    if left_out := len(trials) - len(recorded):
        print(f"{left_out} trials were never started, and have no record")
    return 0


def _target(result: TrialResult) -> str:
    """Return the first word of the first recorded call, which is the target's name; '' if there was no call."""
    return result.calls[0].command.split()[0] if result.calls else ""
