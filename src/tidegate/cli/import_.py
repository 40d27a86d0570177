"""`tidegate import`: stores the results of other tools as a run."""

from __future__ import annotations

import argparse
from pathlib import Path

from rich.console import Console

from tidegate.cli import options
from tidegate.history.import_run import import_run
from tidegate.reports.show import run_overview

DESCRIPTION = """\
Imports results of AgentV (JSONL), of llm-tool-test (a run folder, a folder of run folders, or an events.jsonl), or the
transcript of an agent as a stored run for `tidegate show`, `compare`, `regrade` and `add`. Runs nothing.
"""


def add(parser: argparse.ArgumentParser) -> None:
    """Add its arguments."""
    parser.add_argument("source", type=Path, metavar="RESULTS", help="the file or folder")
    parser.add_argument("--binary", metavar="NAME", help="the tool under test, whose calls are counted")
    parser.add_argument("--out", type=Path, metavar="DIR", required=True, help="output folder")


def run(args: argparse.Namespace) -> int:
    """Store the run and print an overview."""
    stored = import_run(args.source, options.new_folder(args.out), args.binary)
    Console().print(run_overview(stored))
    print(f"run: {args.out}")
    return 0
