"""`tidegate compare`: compares two stored runs without running anything."""

from __future__ import annotations

import argparse
import gc
from pathlib import Path

from rich.console import Console

from tidegate.cli import options
from tidegate.cli.results import tell_result, write_comment
from tidegate.history.report_files import compare_runs
from tidegate.reports.result_json import result_json
from tidegate.reports.terminal import score_table

DESCRIPTION = """\
Compares two stored runs and prints the findings; the exit code is the verdict's. This command runs no trials, so it
cannot confirm a regression: rows that need new trials are unconfirmed.
"""


def add(parser: argparse.ArgumentParser) -> None:
    """Add its arguments."""
    parser.add_argument("base", type=Path, metavar="BASE", help="the folder of a stored run")
    parser.add_argument("head", type=Path, metavar="HEAD", help="the folder of the run to compare with it")
    parser.add_argument("--out", type=Path, metavar="DIR", help="write comment.md, result.json and report.html there")
    options.add_json(parser, "the result")
    options.add_output(parser)


def run(args: argparse.Namespace) -> int:
    """Compare the runs, print the comment, and return the verdict's exit code."""
    gc.disable()  # all values live to the end of this command, and looking through them takes a quarter of the time
    result = compare_runs(args.base, args.head, args.out)
    if args.out is not None:
        write_comment(result, args.out)
    if args.json:
        print(result_json(result), end="")
        return result.verdict.exit_code
    scores = score_table(result)
    if scores and args.quiet < 2:
        Console().print("Mean scores:", scores, "", sep="\n")
    tell_result(result, args.out, args)
    return result.verdict.exit_code
