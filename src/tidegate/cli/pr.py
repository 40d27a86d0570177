"""`tidegate pr`: compares a branch with its base locally, as the action does on a pull request."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from tidegate.cli import options

if TYPE_CHECKING:
    from tidegate.run.checkouts import Commits

DESCRIPTION = """\
Checks out base (at the merge base) and head, builds both, runs every scenario on both sides, compares them, and
prints the findings. Writes comment.md, result.json, report.html and the stored runs. The exit code is the verdict's.
Only commits count: uncommitted changes are not tested. If head and base are the same commit, there is nothing to run:
exit code 3.
"""


def add(parser: argparse.ArgumentParser) -> None:
    """Add its arguments."""
    parser.add_argument("--base", metavar="REV", help="the target branch (default: origin's default branch, or main)")
    parser.add_argument("--head", metavar="REV", default="HEAD", help="the branch to merge (default: HEAD)")
    parser.add_argument("--out", type=Path, metavar="DIR", help="output folder (default: .tidegate/pr)")
    parser.add_argument("--junit", type=Path, metavar="FILE", help="also write the results as JUnit XML")
    options.add_json(parser, "the result")
    options.add_pause(parser)
    parser.add_argument(
        "--replay-only",
        action="store_true",
        help="replay base's recorded sessions instead of running agents that vary; needs no key",
    )
    options.add_repository(parser)
    options.add_selection(parser)
    options.add_durations(parser)


def run(args: argparse.Namespace) -> int:
    """Run both sides, print the comment, and return the verdict's exit code."""
    from tidegate.history.our_folder import make_our_folder
    from tidegate.run.checkouts import RevisionPair, commits_of
    from tidegate.vcs.revisions import default_base, repository_root

    root = repository_root(args.repo)
    base = args.base or default_base(root)
    out = (args.out or make_our_folder(root) / "pr").resolve()
    options.refuse_folder(args.junit)
    commits = commits_of(root, RevisionPair(base, args.head))
    left_out = _left_out(root, commits, args)
    if left_out and not args.quiet:
        print(left_out, file=sys.stderr)
    from tidegate.cli.results import finish  # 100 ms
    from tidegate.run.pipeline import pull_request  # 100 ms

    result = options.run_work(args, lambda chosen: pull_request(root, commits, out, chosen), pause_s=args.pause)
    return finish(result, out, args, left_out)


def _left_out(root: Path, commits: Commits, args: argparse.Namespace) -> str:
    """Return a warning if uncommitted changes are not compared, else ''.

    Raises ConfigurationError or NothingToRunError if there is nothing to compare. The check comes before anything is
    written, so that the reports of the last run stay.
    """
    from tidegate.errors import ConfigurationError, NothingToRunError  # 90 ms
    from tidegate.vcs.revisions import has_file, is_dirty

    dirty = args.head == "HEAD" and is_dirty(root)
    if not has_file(root, commits.head, args.config) and (root / args.config).exists():
        raise ConfigurationError(
            f"{args.config} is not committed on head (`{args.head}`), and only what is committed is compared.",
            f"git add {args.config} and what it names, and commit them on a branch.",
        )
    if commits.base.sha == commits.head.sha:
        same = commits.target.sha == commits.head.sha
        where = f"both are at {commits.head.sha[:12]}" if same else "base is ahead of it"
        raise NothingToRunError(
            f"head (`{args.head}`) has no commits that base (`{commits.target.ref}`) lacks: {where}.",
            "Changes that are not committed are not compared: commit them on a branch."
            if dirty
            else "Check out the branch to compare, or name both with `--base` and `--head`.",
        )
    return "not compared: the working tree has changes that are not committed" if dirty else ""
