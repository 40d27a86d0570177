"""`tidegate run`: the suite on one revision."""

from __future__ import annotations

import argparse
import time
from pathlib import Path

from tidegate.cli import options

CANNOT_RUN = 4  # no trial could be measured

DESCRIPTION = """\
Runs the suite on the working tree as it is, or on a checkout of --rev, and stores the run: all measurements, every
command's output, what the agent changed. `tidegate compare` compares two such runs, `tidegate show` reads one.
"""


def add(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Register the command."""
    parser = commands.add_parser("run", help="run the suite on one revision and store it", description=DESCRIPTION)
    parser.add_argument("--rev", metavar="REV", help="a branch, tag or commit (default: the working tree as it is)")
    parser.add_argument(
        "--trials", type=options.positive, metavar="N", help="trials per scenario and agent (default: the suite's)"
    )
    parser.add_argument("--out", type=Path, metavar="DIR", help="where the run goes (default: .tidegate/runs/TIME)")
    options.add_json(parser, "the run")
    parser.add_argument(
        "--history", action="store_true", help="keep the trials as base's history, for pull requests to compare with"
    )
    options.add_repository(parser)
    options.add_selection(parser)
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Run it and print an overview. Exit code 0: a single run has nothing to regress from."""
    from rich.console import Console

    from tidegate.cli.progress import make_progress
    from tidegate.errors import ConfigurationError
    from tidegate.pipeline import single_run
    from tidegate.reports.show import run_overview
    from tidegate.revisions import repository_root
    from tidegate.sides import make_our_folder

    root = repository_root(args.repo)
    out = (args.out or make_our_folder(root) / "runs" / time.strftime("%Y%m%dT%H%M%SZ", time.gmtime())).resolve()
    if out.exists() and any(out.iterdir()):
        raise ConfigurationError(f"{out} is not empty.", "Name a new folder with `--out`.")
    with make_progress(Console(stderr=True), quiet=args.quiet) as progress:
        chosen = options.pipeline_options(args, progress)
        stored = options.run_until_stopped(
            lambda: single_run(root, args.rev, out, chosen, trials=args.trials, as_history=args.history)
        )
    if args.json:
        print(stored.model_dump_json(indent=2))
    else:
        Console().print(run_overview(stored))
        print(f"run: {out}")
    return 0 if any(trial.outcome is not None for trial in stored.trials) else CANNOT_RUN
