"""`tidegate action`: the command that the container runs on GitHub."""

from __future__ import annotations

import argparse
import os
import secrets
import shlex
import time
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from tidegate.cli import options
from tidegate.errors import ConfigurationError, TidegateError

if TYPE_CHECKING:
    from tidegate.github.client import GitHubRepository
    from tidegate.github.job import Compare, Connect
    from tidegate.github.settings import GitHubJob, Settings
    from tidegate.github.stop_commands import Fence

EVENTS = ("action", "history", "publish", "plan", "shard", "merge", "link")  # commands that depend on the event
DESCRIPTION = """\
Handles the GitHub event that started the job: compares both sides as `tidegate pr` does, updates the comment on the
pull request, and writes the step summary and outputs. Exits with the verdict's code, even if the comment cannot be
written.
"""


def add(parser: argparse.ArgumentParser) -> None:
    """Add its arguments: it has none."""


def run(args: argparse.Namespace) -> int:
    """Run the action with the inputs from the environment, and return its exit code."""
    environ = options.environ()
    trusted = trusted_checkout(environ)
    os.environ.update(trusted)  # for git, which inherits them
    return perform(environ | trusted, _connect)


def trusted_checkout(environ: Mapping[str, str]) -> dict[str, str]:
    """Return the variables with which git as root reads the checkout at the input `path`; none outside of the image.

    The image trusts the workspace itself, which belongs to the runner's user. git 2.39 has no pattern for its folders.
    """
    path = environ.get("INPUT_PATH", "").strip()
    if not path or environ.get("GIT_CONFIG_KEY_0") != "safe.directory":
        return {}
    return {"GIT_CONFIG_VALUE_0": os.path.normpath(Path(environ["GIT_CONFIG_VALUE_0"], path))}


def perform(
    environ: Mapping[str, str],
    connect: Connect,
    sleep: Callable[[float], None] = time.sleep,
    compare: Compare | None = None,
) -> int:
    """Handle the event as the inputs say, and return the exit code. The last three are those of `Outside`."""
    from tidegate.github.stop_commands import Fence  # 160 ms
    from tidegate.github.workflow_commands import add_masks

    if environ.get("GITHUB_ACTIONS") == "true":  # elsewhere, nothing would hide these lines
        for line in add_masks(environ):
            print(line, flush=True)
    fence = Fence(partial(print, flush=True), secrets.token_hex)
    fence.put_up()
    try:
        return _perform(environ, connect, sleep, compare, fence)
    finally:
        # Between our own commands the runner ignores all, so no output of an agent can have been one.
        fence.take_down()


def _perform(
    environ: Mapping[str, str],
    connect: Connect,
    sleep: Callable[[float], None],
    compare: Compare | None,
    fence: Fence,
) -> int:
    from rich.console import Console  # 220 ms

    from tidegate.cli.progress import make_progress
    from tidegate.github import Outside, act, report_error
    from tidegate.github.settings import Settings

    settings = Settings.valid(environ)
    with make_progress(Console(width=200), command=fence.command) as progress:
        outside = Outside(environ, progress, connect, fence.command, sleep, compare)
        if settings.command in EVENTS:
            return options.run_until_stopped(lambda: act(outside))
        try:
            return _other_command(Settings.from_environ(environ))
        except TidegateError as error:
            report_error(error, outside)
            raise


def _other_command(settings: Settings) -> int:
    """Run another subcommand with the input `args` as its arguments, and return its exit code."""
    from tidegate.cli import parse  # 220 ms
    from tidegate.history.our_folder import OUR_FOLDER
    from tidegate.trial.sandbox.users import give_back

    # Use the commit: the working tree is in the runner's folders, which the users of trials cannot read.
    of_commit = ["--repo", settings.path, "--rev", "HEAD"] if settings.command == "run" else []
    try:
        arguments = parse([settings.command, *of_commit, *shlex.split(settings.args)])
    except ValueError as error:
        raise ConfigurationError(f"input `args`: {error}.", "Quote it as in a shell.") from None
    except SystemExit as stopped:  # argparse has already printed the error
        return int(stopped.code or 0)
    try:
        code: int = arguments.run(arguments)
    finally:
        give_back(Path.cwd() / settings.path, (OUR_FOLDER, ".git"))
    return code


def _connect(settings: Settings, runner: GitHubJob) -> GitHubRepository | None:
    from tidegate.github.client import connect  # 210 ms

    if settings.github_token is None:
        return None
    return connect(runner.api_url, settings.github_token, runner.repository)
