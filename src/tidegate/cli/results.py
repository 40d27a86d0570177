"""Write and print a result: the same for every command that has one."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from rich.console import Console

from tidegate.history.run_folder import write_text
from tidegate.reports.comment import comment_body
from tidegate.reports.junit import junit_xml
from tidegate.reports.result_json import result_json
from tidegate.reports.terminal import final_line, print_durations, print_result, print_summary

if TYPE_CHECKING:
    from tidegate.model.result import Result

_FILES = (("comment", "comment.md"), ("result", "result.json"), ("report", "report.html"), ("runs", "runs"))
SUMMARY_ONLY = 2  # times `-q`


def finish(result: Result, out: Path, args: argparse.Namespace, left_out: str = "") -> int:
    """Write the comment and the JUnit file, print the result, and return the verdict's exit code.

    `left_out`: a warning about what was not compared.
    """
    write_comment(result, out)
    if args.junit is not None:
        write_text(args.junit, junit_xml(result))
    if args.json:
        print(result_json(result), end="")
        return result.verdict.exit_code
    if left_out:
        Console(stderr=True).print(left_out, style="bold yellow")
    tell_result(result, out, args)
    return result.verdict.exit_code


def write_comment(result: Result, out: Path) -> None:
    """Write comment.md."""
    write_text(out / "comment.md", comment_body(result))


def tell_result(result: Result, out: Path | None, args: argparse.Namespace) -> None:
    """Print the findings, the short summary, the paths of what is in `out`, and the verdict as the last line."""
    console = Console()
    alone = args.quiet >= SUMMARY_ONLY
    if not alone:
        print_result(result, console, verbose=args.verbose)
    print_durations(result.trials, getattr(args, "durations", 0), console)
    print_summary(result, console, verbose=args.verbose, alone=alone)
    for name, file in _FILES:
        if out is not None and (out / file).exists():
            print(f"{name + ':':<9}{out / file}")
    console.print(final_line(result), soft_wrap=not console.is_terminal)
