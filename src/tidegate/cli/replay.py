"""`tidegate replay`: replays what agents did on base, to see what of it still works here. Needs no key."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from tidegate.cli import options
from tidegate.reports.replay_text import replay_text
from tidegate.run.checkouts import make_run_folder
from tidegate.run.replays import replay_here
from tidegate.text.safe import log_line
from tidegate.vcs.revisions import default_base, repository_root

DIFFERS = 1  # exit code: a session shows something else than on base

DESCRIPTION = """\
Runs the recorded sessions of base again, step by step, without an agent: on base, and on the working tree or --rev.
Prints which sessions look the same to an agent, and the first step that differs. Sessions are recorded by
`tidegate run --history` and by base's trials of `tidegate pr`.
Exits with 0 if all sessions look the same, with 1 if one differs, with 3 if there is none.
"""


def add(parser: argparse.ArgumentParser) -> None:
    """Add its arguments."""
    parser.add_argument("--base", metavar="REV", help="their branch (default: origin's default branch, or main)")
    parser.add_argument("--rev", metavar="REV", help="a branch, tag or commit (default: the working tree)")
    parser.add_argument("--out", type=Path, metavar="DIR", help="output folder (default: .tidegate/runs/TIME)")
    options.add_repository(parser)
    options.add_selection(parser)


def run(args: argparse.Namespace) -> int:
    """Replay the sessions, print what they show, and return the exit code."""
    root = repository_root(args.repo)
    base = args.base or default_base(root)
    out = options.new_folder(args.out or make_run_folder(root))
    found = options.run_work(args, lambda chosen: replay_here(root, base, args.rev, out, chosen))
    for warning in found.warnings:
        print(log_line(warning), file=sys.stderr)
    print(replay_text(found.rows, found.without, found.base.sha), end="")
    return DIFFERS if any(row.differing for row in found.rows) else 0
