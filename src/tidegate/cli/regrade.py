"""`tidegate regrade`: grades a stored run again with the current gates and evaluators."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from tidegate.cli import options
from tidegate.cli.progress import Steps
from tidegate.history.known_results import open_answers
from tidegate.history.run_folder import RunFolder, load_run
from tidegate.run.checkouts import REGRADED, scratch_folder
from tidegate.run.regrade import RegradeJob, regrade
from tidegate.suite.load import load_suite
from tidegate.vcs.revisions import repository_root

if TYPE_CHECKING:
    from tidegate.run.regrade import Regraded

DESCRIPTION = """\
Grades a stored run again with the suite's current gates and evaluators, and stores the result as a new run. Runs no
agent. Gates are decided on recorded answers; a trial whose gates need new answers is not measured. Evaluator scripts
run again on the workspace as the agent left it, and the judge answers only new questions.
"""


def add(parser: argparse.ArgumentParser) -> None:
    """Add its arguments."""
    parser.add_argument("stored", type=Path, metavar="RUN", help="the folder of a stored run")
    parser.add_argument("--out", type=Path, metavar="DIR", help="output folder (default: RUN-regraded)")
    options.add_repository(parser)


def run(args: argparse.Namespace) -> int:
    """Grade the trials again, store the new run, and print which outcomes changed."""
    load_run(args.stored)  # fails on an unreadable run before a folder is created
    source = RunFolder.at(args.stored).folder.resolve()
    out = options.new_folder(args.out or source.with_name(f"{source.name}{REGRADED}"))
    environ, root = options.environ(args), repository_root(args.repo)
    suite = load_suite(root, args.config, environ=environ)
    with scratch_folder() as scratch:
        job = RegradeJob(root, suite, scratch, environ, open_answers(root, suite), Steps())
        done = options.run_until_stopped(lambda: regrade(source, out, job))
    _say(done)
    print(f"run: {out}")
    return 0


def _say(done: Regraded) -> None:
    changed = [(old, new) for old, new in zip(done.before, done.run.trials, strict=True) if old.outcome != new.outcome]
    print(f"{len(changed)} of {len(done.before)} trials have another outcome.")
    for old, new in changed:
        print(
            f"  {new.key} #{new.index}: {old.outcome or 'not measured'} → {new.outcome or 'not measured'}: {new.reason}"
        )
    for scenario in done.unknown:
        print(f"  {scenario}: the suite has no such scenario, so its trials are as they were")
