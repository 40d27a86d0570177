"""`tidegate action`: what the container runs on GitHub."""

from __future__ import annotations

import argparse
import secrets
import time
from typing import TYPE_CHECKING

from tidegate.cli import options

if TYPE_CHECKING:
    from tidegate.gh.port import CommentPort
    from tidegate.settings import Runner, Settings

DESCRIPTION = """\
Reads the event and the inputs from the runner's environment, compares both sides as `tidegate pr` does, keeps one
comment on the pull request up to date, and writes the step's summary and outputs. The exit code is the verdict's,
whatever becomes of the comment.
"""


def add(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Register the command."""
    parser = commands.add_parser("action", help="what the GitHub Action runs", description=DESCRIPTION)
    parser.set_defaults(run=run)


def run(_: argparse.Namespace) -> int:
    """Wire what reaches outside of the process, and act."""
    from rich.console import Console

    from tidegate.action import Outside, act
    from tidegate.cli.progress import make_progress
    from tidegate.gh.workflow_commands import fence

    commands: list[str] = []
    start, end = fence(secrets.token_hex())
    print(start, flush=True)
    try:
        with make_progress(Console(width=200)) as progress:
            outside = Outside(options.environ(), progress, _connect, commands.append, time.sleep)
            return options.run_until_stopped(lambda: act(outside))
    finally:
        # Only now does the runner obey what is on stdout: no line before this one can have been an agent's command.
        print(end, *commands, sep="\n", flush=True)


def _connect(settings: Settings, runner: Runner, number: int) -> CommentPort | None:
    from tidegate.gh.pygithub_port import connect

    if settings.github_token is None:
        return None
    return connect(runner.api_url, settings.github_token, runner.repository, number)
