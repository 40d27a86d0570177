"""`tidegate trials run`: runs a batch of trials on a worker of an executor."""

from __future__ import annotations

import argparse
from pathlib import Path

from tidegate.cli import options
from tidegate.model.executor import RESULTS_FILE
from tidegate.run.worker import run_batch

DESCRIPTION = """\
Runs the batch of trials in the file BUNDLE, which an executor has written, and writes their records to the folder
--out, as the file results.zip. The worker's environment has the agents' API keys and the variables of `pass_env`.
docs/executors.md says what a worker needs.
"""


def add(parser: argparse.ArgumentParser) -> None:
    """Add its arguments."""
    parser.description = None  # its action has it
    actions = parser.add_subparsers(title="actions", metavar="ACTION", required=True)
    action = actions.add_parser("run", help="run the trials of a bundle", description=DESCRIPTION)
    action.add_argument("bundle", type=Path, metavar="BUNDLE", help="the bundle's file")
    action.add_argument("--out", type=Path, required=True, metavar="DIR", help="the folder for the results")
    action.add_argument(
        "--jobs", type=options.positive, metavar="N", help="concurrent trials (default: the suite's, or one per core)"
    )
    options.add_output(action)


def run(args: argparse.Namespace) -> None:
    """Run the batch, and print how many trials were run."""
    out = options.new_folder(args.out)
    report = options.run_work(
        args, lambda chosen: run_batch(args.bundle.resolve(), out, chosen.environ, chosen.progress, chosen.jobs)
    )
    print(f"results: {out / RESULTS_FILE}, {report.trials} trials")
