"""`tidegate run`: runs the suite on one revision."""

from __future__ import annotations

import argparse
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from tidegate.cli import options

if TYPE_CHECKING:
    from tidegate.model.measurement import Run

FAILED = 1  # exit code: a trial of a regression scenario failed
CANNOT_RUN = 4  # exit code: no trial could be measured

DESCRIPTION = """\
Runs the suite on the working tree, where `build` writes its files, or on a checkout of --rev, and stores the run: all
measurements, every command's output, the agent's changes. Use `tidegate compare` to compare two runs, `tidegate show`
to read one.
Without --history, exits with 1 if a trial of a regression scenario fails, and with 4 if one could not be measured.
"""


def add(parser: argparse.ArgumentParser) -> None:
    """Add its arguments."""
    parser.add_argument("--dry-run", action="store_true", help="print what would run, and run nothing")
    parser.add_argument("--rev", metavar="REV", help="a branch, tag or commit (default: the working tree)")
    parser.add_argument(
        "--trials", type=options.trials, metavar="N", help="trials per scenario and agent (default: the suite's)"
    )
    parser.add_argument("--out", type=Path, metavar="DIR", help="output folder (default: .tidegate/runs/TIME)")
    options.add_json(parser, "the run")
    parser.add_argument("--history", action="store_true", help="add the trials to base's history")
    options.add_repository(parser)
    options.add_selection(parser)
    options.add_durations(parser)


def run(args: argparse.Namespace) -> int:
    """Run the suite, print an overview, and return the exit code."""
    from tidegate.run.checkouts import make_run_folder  # 480 ms
    from tidegate.run.single_run import single_run
    from tidegate.text.redaction import without_secrets
    from tidegate.vcs.revisions import repository_root

    root = repository_root(args.repo)
    if args.dry_run:
        return _say_what_would_run(root, args)
    out = options.new_folder(args.out or make_run_folder(root))
    try:
        stored = options.run_work(
            args, lambda chosen: single_run(root, args.rev, out, chosen, trials=args.trials, as_history=args.history)
        )
    finally:
        with suppress(OSError):
            out.rmdir()  # succeeds only if nothing was stored
    stored = without_secrets(stored)
    _tell(stored, out, args)
    return _exit_code(stored, as_history=args.history)


def _tell(stored: Run, out: Path, args: argparse.Namespace) -> None:
    """Print an overview of the run, or the run itself as JSON."""
    from rich.console import Console  # 480 ms

    from tidegate.reports.notes_text import refused_hosts
    from tidegate.reports.show import run_final_line, run_overview

    if args.json:
        print(stored.model_dump_json(indent=2))
    else:
        console = Console()
        if args.quiet < 2:
            console.print(run_overview(stored, verbose=args.verbose))
        if args.durations:
            from tidegate.reports.terminal import print_durations  # 150 ms

            print_durations(stored.trials, args.durations, console)
        print(*refused_hosts(stored.trials), f"run: {out}", sep="\n")
        console.print(run_final_line(stored))


def _say_what_would_run(root: Path, args: argparse.Namespace) -> int:
    """Print the rows that are selected in the working tree, each with its number of trials."""
    from tidegate.cli.check import listing  # 310 ms
    from tidegate.decide.procedure.rules import screening_of
    from tidegate.model.progress import Progress
    from tidegate.reports.filters import count
    from tidegate.suite.load import load_suite
    from tidegate.suite.plan import make_plan, run_rows

    suite = load_suite(root, args.config, environ=options.environ(args))
    plan = make_plan(suite, options.pipeline_options(args, Progress()).selection)
    trials = sum(args.trials or screening_of(row, suite.policy) for row in run_rows(plan, suite))
    print(f"{count(trials, 'trial')} would run, of {count(len(plan.rows), 'row')}:\n\n{listing(plan)}")
    return 0


def _exit_code(stored: Run, *, as_history: bool) -> int:
    """Return 4 if a trial that counts was not measured, else 1 if one failed.

    With `--history`, failures are measurements, and a part of the trials is enough.
    """
    counting = {row.key for row in stored.rows if row.purpose == "regression"}
    trials = [trial for trial in stored.trials if trial.key in counting] or stored.trials
    if as_history:
        return CANNOT_RUN if all(trial.outcome is None for trial in stored.trials) else 0
    if any(trial.decides == "fail" for trial in trials if trial.key in counting):
        return FAILED
    return CANNOT_RUN if any(trial.decides is None for trial in trials) else 0
