"""`tidegate demo`: runs Tidegate on three pull requests of a small example repository."""

from __future__ import annotations

import argparse
import shutil
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from rich.console import Console
from rich.rule import Rule

from tidegate.authoring.demo_repository import make_repository
from tidegate.cli import options
from tidegate.cli.progress import make_progress
from tidegate.cli.results import tell_result, write_comment
from tidegate.errors import ConfigurationError
from tidegate.run.checkouts import RevisionPair, commits_of
from tidegate.run.pipeline import pull_request as compare
from tidegate.run.run_job import Options

if TYPE_CHECKING:
    from tidegate.authoring.demo_repository import PullRequest
    from tidegate.model.result import Result

DESCRIPTION = """\
Creates a small repository with a tool, scenarios and three pull requests: a harmless one, one that breaks what agents
do, and one that fixes outdated docs. Runs `tidegate pr` on each, prints the comments, and keeps everything in DIR.
"""
NAMES = ("harmless", "regression", "improvement")
UNEXPECTED = 70  # exit code


def add(parser: argparse.ArgumentParser) -> None:
    """Add its arguments."""
    parser.add_argument(
        "--out",
        type=Path,
        default=Path(".tidegate/demo"),
        metavar="DIR",
        help="output folder, replaced (default: .tidegate/demo)",
    )
    parser.add_argument("--only", choices=NAMES, metavar="NAME", help=f"run only one pull request: {', '.join(NAMES)}")
    options.add_output(parser)


def run(args: argparse.Namespace) -> int:
    """Run the pull requests. Return 0 if every verdict is the expected one."""
    out = _made_anew(args.out)
    repository = out / "taskmgr"
    console = Console()
    surprises, said = [], set[str]()
    for pull_request in make_repository(repository):
        if args.only in (None, pull_request.name):
            console.print(Rule(f"{pull_request.name}: {pull_request.title}"))
            result = _compare(repository, pull_request, out / pull_request.name, args, said)
            if result.verdict.state != pull_request.expected:
                surprises.append(f"{pull_request.name} {result.verdict.state}, not {pull_request.expected}")
    print(f"repository: {repository} (run the commands of a comment's recipe there)")
    if surprises:
        print(f"tidegate demo: this is a bug in tidegate: {'; '.join(surprises)}", file=sys.stderr)
        return UNEXPECTED
    return 0


def _made_anew(out: Path) -> Path:
    """Return an empty folder. Only a folder that an earlier demo created is ever deleted."""
    marker = out / ".made-by-tidegate-demo"
    if out.exists() and not marker.exists() and (not out.is_dir() or any(out.iterdir())):
        raise ConfigurationError(f"{out} already exists.", "Name a new folder: `tidegate demo --out DIR`.")
    shutil.rmtree(out, ignore_errors=True)
    out.mkdir(parents=True)
    marker.touch()
    return out.resolve()


def _compare(
    repository: Path, pull_request: PullRequest, out: Path, args: argparse.Namespace, said: set[str]
) -> Result:
    """Run Tidegate on the pull request, and print its comment. `said`: messages that are not printed again."""
    if pull_request.base != "main":  # trials on main, which it does not have, would only be warned of
        shutil.rmtree(repository / ".tidegate/store", ignore_errors=True)
    with make_progress(Console(stderr=True), quiet=args.quiet, verbose=args.verbose, said=said) as progress:
        chosen = Options(environ=options.environ(), progress=progress)
        asked = RevisionPair(pull_request.base, pull_request.head)
        result = options.run_until_stopped(lambda: compare(repository, commits_of(repository, asked), out, chosen))
    write_comment(result, out)
    tell_result(result, out, args)
    print()
    return result
