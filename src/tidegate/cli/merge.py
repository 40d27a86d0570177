"""`tidegate merge`: joins the bundles of all shards, and decides as one machine would."""

from __future__ import annotations

import argparse
from pathlib import Path

from tidegate.cli import options
from tidegate.cli.results import finish
from tidegate.history.our_folder import make_our_folder, shards_folder
from tidegate.run.checkouts import RevisionPair, commits_of
from tidegate.run.pipeline import pull_request
from tidegate.run.sharding import PLAN_FILE, read_plan
from tidegate.vcs.revisions import repository_root

DESCRIPTION = """\
Joins the bundles of `tidegate shard`, runs the trials that are needed to confirm what they show, and reports and
decides as `tidegate pr` does on one machine. DIR has the plan and the bundles, also in folders below it.
The rows of a shard are not measured if its bundle is missing, was cut off or changed, exists in several versions, or is
of another plan, commit, suite or version. They never pass: by default the exit code is then 5 at best.
"""


def add(parser: argparse.ArgumentParser) -> None:
    """Add its arguments."""
    parser.add_argument(
        "shards", type=Path, nargs="?", metavar="DIR", help="plan and bundles (default: .tidegate/shards)"
    )
    parser.add_argument("--out", type=Path, metavar="DIR", help="output folder (default: .tidegate/pr)")
    parser.add_argument("--junit", type=Path, metavar="FILE", help="also write the results as JUnit XML")
    options.add_json(parser, "the result")
    options.add_pause(parser)
    parser.add_argument(
        "--repo", type=Path, default=Path(), metavar="DIR", help="the repository (default: current folder)"
    )
    options.add_jobs(parser)
    options.add_output(parser)


def run(args: argparse.Namespace) -> int:
    """Merge, print the comment, and return the verdict's exit code."""
    root = repository_root(args.repo)
    out = (args.out or make_our_folder(root) / "pr").resolve()
    options.refuse_folder(args.junit)
    shards = (args.shards or shards_folder(root)).resolve()
    plan = read_plan(shards / PLAN_FILE)
    asked = RevisionPair(plan.target, plan.head, plan.names)
    result = options.run_work(
        args,
        lambda chosen: pull_request(root, commits_of(root, asked), out, chosen),
        config=plan.config,
        pause_s=args.pause,
        shards=shards,
    )
    return finish(result, out, args)
