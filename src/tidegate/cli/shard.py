"""`tidegate shard`: runs the trials of one shard of a plan."""

from __future__ import annotations

import argparse
from pathlib import Path

from tidegate.cli import options
from tidegate.history.our_folder import shards_folder
from tidegate.run.bundle import bundle_name
from tidegate.run.checkouts import RevisionPair
from tidegate.run.sharding import PLAN_FILE, add_shard, one_shard, read_plan, require_number
from tidegate.vcs.revisions import repository_root

DESCRIPTION = """\
Screens the rows that the plan gives to this shard: on both sides, with the sides taking turns, and with its part of the
budget. Writes a bundle with the results for `tidegate merge`. It confirms and decides nothing, so it also exits with 0
if trials fail. A job that is killed writes no bundle; run it again, or its rows are not measured.
"""


def add(parser: argparse.ArgumentParser) -> None:
    """Add its arguments."""
    add_shard(parser)
    parser.add_argument("--plan", type=Path, metavar="FILE", help="the plan (default: .tidegate/shards/plan.json)")
    parser.add_argument("--out", type=Path, metavar="DIR", help="folder for the bundle (default: .tidegate/shards)")
    parser.add_argument(
        "--repo", type=Path, default=Path(), metavar="DIR", help="the repository (default: current folder)"
    )
    options.add_jobs(parser)
    options.add_pause(parser)
    options.add_output(parser)


def run(args: argparse.Namespace) -> int:
    """Run the shard, and say where its bundle is."""
    root = repository_root(args.repo)
    number, of = args.shard
    plan = read_plan(args.plan or shards_folder(root) / PLAN_FILE)
    require_number(plan, number, of)
    asked = RevisionPair(plan.target, plan.head, plan.names)
    out = (args.out or shards_folder(root)).resolve()
    ran = options.run_work(
        args,
        lambda chosen: one_shard(root, asked, plan, number, chosen),
        config=plan.config,
        pause_s=args.pause,
        shards=out,
    )
    rows = len(plan.shares[number - 1].rows)
    print(f"shard {number}/{of}: {ran.trials} trials of {rows} rows in {ran.seconds:.0f} s")
    print(f"bundle: {out / bundle_name(number, of)}")
    return 0
