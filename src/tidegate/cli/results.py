"""Write and print a result: the same for every command that has one."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tidegate.model.result import Result

_FILES = (("comment", "comment.md"), ("result", "result.json"), ("report", "report.html"), ("runs", "runs"))
SUMMARY_ONLY = 2  # times `-q`


def write_comment(result: Result, out: Path) -> None:
    """Write comment.md."""
    from tidegate.reports.comment import comment_body
    from tidegate.store.run_folder import write_text

    write_text(out / "comment.md", comment_body(result))


def tell_result(result: Result, out: Path | None, args: argparse.Namespace) -> None:
    """Print the findings, the short summary, the paths of what is in `out`, and the verdict as the last line."""
    from rich.console import Console

    from tidegate.reports.terminal import final_line, print_result, print_summary

    console = Console()
    alone = args.quiet >= SUMMARY_ONLY
    if not alone:
        print_result(result, console, verbose=args.verbose)
    print_summary(result, console, verbose=args.verbose, alone=alone)
    for name, file in _FILES:
        if out is not None and (out / file).exists():
            print(f"{name + ':':<9}{out / file}")
    console.print(final_line(result), soft_wrap=not console.is_terminal)
