"""`tidegate prove`: shows what the suite would catch, and what of the tool no scenario uses."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from tidegate.authoring.drafts import drafts_for
from tidegate.cli import options
from tidegate.history.run_folder import write_text
from tidegate.lab.prove import Wanted, prove
from tidegate.model.proof import Proof
from tidegate.reports.prove_text import prove_text
from tidegate.run.checkouts import make_run_folder
from tidegate.vcs.revisions import repository_root

BELOW = 1  # exit code: fewer mutants are caught than `--min` asks for

DESCRIPTION = """\
Changes the tool under test in small ways, one at a time, without touching its source: an option is ignored, a
subcommand is gone, a key of JSON output is renamed. Runs the scenarios whose calls meet the change, and lets the
procedure of pull requests decide which changes the suite catches. Prints the others, and how much of the tool's
surface the scenarios use. Needs no key: agents that cost are run only with --agent.
Exits with 0, or with 1 if fewer mutants are caught than --min asks for.
"""


def add(parser: argparse.ArgumentParser) -> None:
    """Add its arguments."""
    parser.add_argument("--rev", metavar="REV", help="a branch, tag or commit (default: the working tree)")
    parser.add_argument("--surface", action="store_true", help="run no mutants: only map what the scenarios use")
    parser.add_argument(
        "--mutants", type=options.positive, metavar="N", help="only a random sample of N mutants (default: all)"
    )
    parser.add_argument("--max-usd", type=float, metavar="USD", help="stop agents that cost at this sum")
    parser.add_argument(
        "--min", type=options.rate, metavar="SHARE", help="exit with 1 if a smaller share is caught: 0.7"
    )
    parser.add_argument(
        "--draft", action="store_true", help="draft checks for five mutants that are alive, and try them"
    )
    parser.add_argument("--out", type=Path, metavar="DIR", help="output folder (default: .tidegate/runs/TIME)")
    options.add_repository(parser)
    options.add_selection(parser)


def run(args: argparse.Namespace) -> int:
    """Prove the suite, print what was found, and return the exit code."""

    root = repository_root(args.repo)
    wanted = Wanted(
        mutants=not args.surface,
        most_mutants=args.mutants,
        drafter=drafts_for if args.draft else None,
        max_usd=args.max_usd,
    )
    out = options.new_folder(args.out or make_run_folder(root))
    proof = options.run_work(args, lambda chosen: prove(root, args.rev, out, chosen, wanted))
    write_text(out / "proof.json", proof.model_dump_json(indent=2) + "\n")
    print(f"{prove_text(proof, every=args.verbose)}all mutants: {out / 'proof.json'}")
    print(_next(proof, drafted=args.draft), end="")
    if args.min is None or (proof.share or 0.0) >= args.min:
        return 0
    print(f"tidegate: {_too_few(proof.share, args.min)}", file=sys.stderr)
    return BELOW


def _next(proof: Proof, *, drafted: bool) -> str:
    """Return a line on what to do about mutants that are alive; '' if none is, or if nothing could be drafted."""
    if any(draft for tool in proof.tools for draft in tool.drafts):
        return "next:   read the drafts, and copy those that you want into the scenarios' files\n"
    alive = any(one.state == "alive" for one in proof.mutants)
    return "next:   `tidegate prove --draft` writes checks for some of what is alive\n" if alive and not drafted else ""


def _too_few(share: float | None, least: float) -> str:
    """Return the sentence on why `--min` is not met."""
    if share is None:
        return f"no mutant was decided, so --min {least:g} is not met."
    return f"{share:.1%} of the mutants are caught, less than --min {least:g}."
