"""`tidegate plan`: splits the screening of a branch over several jobs."""

from __future__ import annotations

import argparse
from pathlib import Path

from rich.console import Console

from tidegate.cli import options
from tidegate.cli.progress import make_progress
from tidegate.history.our_folder import shards_folder
from tidegate.history.run_folder import write_value
from tidegate.run.checkouts import RevisionPair
from tidegate.run.run_job import Options
from tidegate.run.sharding import PLAN_FILE, ShardsWanted, add_shards, matrix, overview, plan_shards
from tidegate.vcs.revisions import default_base, repository_root

DESCRIPTION = """\
Splits the trials of `tidegate pr` over several jobs, for suites that take too long on one machine. Runs no agent.
Writes the plan, and prints the matrix of a GitHub workflow: one entry per job. Then `tidegate shard 1/3` runs the
rows of shard 1 in its job, and `tidegate merge` confirms, decides and reports as `tidegate pr` does.
Rows are assigned by the time that they took in base's history, the longest first. A row without a history is taken to
need the median of the others, or its time limit. A shard has two rows or more on average; a matrix has 256 jobs or
less. docs/github.md has the workflow.
"""


def add(parser: argparse.ArgumentParser) -> None:
    """Add its arguments."""
    parser.add_argument("--base", metavar="REV", help="the target branch (default: origin's default branch, or main)")
    parser.add_argument("--head", metavar="REV", default="HEAD", help="the branch to merge (default: HEAD)")
    add_shards(parser)
    parser.add_argument("--out", type=Path, metavar="FILE", help="the plan (default: .tidegate/shards/plan.json)")
    options.add_repository(parser)
    options.add_jobs(parser)
    options.add_output(parser)


def run(args: argparse.Namespace) -> int:
    """Write the plan and print the matrix."""
    root = repository_root(args.repo)
    out = args.out or shards_folder(root) / PLAN_FILE
    asked = RevisionPair(args.base or default_base(root), args.head)
    with make_progress(Console(stderr=True), quiet=args.quiet, verbose=args.verbose) as progress:
        chosen = Options(environ=options.environ(), progress=progress, config=args.config, jobs=args.jobs)
        plan = plan_shards(root, asked, chosen, ShardsWanted(args.shards, args.minutes * 60))
    write_value(out, plan)
    Console(stderr=True).print(f"{overview(plan)}\nplan: {out}", highlight=False, soft_wrap=True)
    print(matrix(plan))
    return 0
