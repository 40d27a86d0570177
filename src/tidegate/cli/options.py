"""Options that several commands share, and their conversion into pipeline options."""

from __future__ import annotations

import argparse
import os
from collections.abc import Callable, Coroutine
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from tidegate.errors import ConfigurationError

if TYPE_CHECKING:
    from tidegate.model.progress import Progress
    from tidegate.run.run_job import Options

T = TypeVar("T")
SUITE_FILE = "tidegate.yaml"


def add_repository(parser: argparse.ArgumentParser) -> None:
    """Add `--repo` and `--config`."""
    parser.add_argument(
        "--repo", type=Path, default=Path(), metavar="DIR", help="the repository (default: current folder)"
    )
    parser.add_argument(
        "--config", default=SUITE_FILE, metavar="FILE", help="path of the suite, relative to the repository root"
    )


def add_selection(parser: argparse.ArgumentParser) -> None:
    """Add `--scenario`, `--agent`, `--tags`, `--tier`, `--jobs`, `--verbose` and `--quiet`."""
    chosen = parser.add_argument_group("what to run (default: everything)")
    for option in ("--scenario", "--agent"):
        chosen.add_argument(
            option,
            action="append",
            default=[],
            metavar="NAME",
            help="run only this one, or all of a glob; repeatable",
        )
    chosen.add_argument("--tags", default="", metavar="A,B", help="only scenarios with any of these tags")
    chosen.add_argument("--tier", type=int, metavar="N", help="only scenarios at or below this tier")
    add_jobs(parser)
    add_output(parser)


def add_durations(parser: argparse.ArgumentParser) -> None:
    """Add `--durations`."""
    parser.add_argument(
        "--durations", type=positive, default=0, metavar="N", help="also list the N slowest trials, and what they took"
    )


def add_output(parser: argparse.ArgumentParser) -> None:
    """Add `--verbose` and `--quiet`."""
    parser.add_argument("-v", "--verbose", action="store_true", help="show every trial and every row")
    parser.add_argument("-q", "--quiet", action="count", default=0, help="hide progress; -qq: only the short summary")


def add_pause(parser: argparse.ArgumentParser) -> None:
    """Add `--pause`."""
    parser.add_argument(
        "--pause",
        type=seconds,
        default=60.0,
        metavar="SECONDS",
        help="the time to wait before new trials verify a regression, and in all for a provider that does not answer "
        "(default: %(default)s)",
    )


def add_jobs(parser: argparse.ArgumentParser) -> None:
    """Add `--jobs`."""
    parser.add_argument(
        "--jobs", type=positive, metavar="N", help="concurrent trials (default: the suite's, or one per core)"
    )


def add_json(parser: argparse.ArgumentParser, what: str) -> None:
    """Add `--json`. `what` names the printed value in the help text."""
    parser.add_argument("--json", action="store_true", help=f"print only {what} to stdout, as JSON")


def positive(text: str) -> int:
    """Parse an integer of at least 1."""
    number = int(text)
    if number < 1:
        raise argparse.ArgumentTypeError("must be at least 1")
    return number


MOST_TRIALS = 10_000


def trials(text: str) -> int:
    """Parse a number of trials, at most MOST_TRIALS."""
    if (number := positive(text)) > MOST_TRIALS:
        raise argparse.ArgumentTypeError(f"must be at most {MOST_TRIALS}")
    return number


def seconds(text: str) -> float:
    """Parse a time in seconds, less than a day."""
    number = float(text)
    if not 0 <= number < 86_400:
        raise argparse.ArgumentTypeError("must be between 0 and a day")
    return number


def rate(text: str) -> float:
    """Parse a success rate from 0 to 1."""
    number = float(text)
    if not 0 <= number <= 1:
        raise argparse.ArgumentTypeError("must be between 0 and 1")
    return number


def refuse_folder(junit: Path | None) -> None:
    """Raise ConfigurationError if the file of `--junit` is a folder."""
    if junit is not None and junit.is_dir():
        raise ConfigurationError(f"{junit} is a folder.", "Name a file with `--junit`.")


def new_folder(out: Path) -> Path:
    """Return the absolute path of the output folder. Raises ConfigurationError unless it is missing or empty."""
    if out.exists() and not (out.is_dir() and not any(out.iterdir())):
        raise ConfigurationError(f"{out} is not an empty folder.", "Name a new one with `--out`.")
    return out.resolve()


def run_until_stopped(start: Callable[[], Coroutine[None, None, T]]) -> T:
    """Run the coroutine and return its result. On SIGINT or SIGTERM, cancel it and raise KeyboardInterrupt.

    Both signals are ignored after the first, so that nothing interrupts the clean-up. A runner that cancels a job
    sends both, and people press Ctrl-C twice.
    """
    import asyncio  # 40 ms
    import signal

    async def guarded() -> T:
        task, loop = asyncio.current_task(), asyncio.get_running_loop()
        assert task is not None
        ends = (signal.SIGINT, signal.SIGTERM)

        def end() -> None:
            for number in ends:
                loop.remove_signal_handler(number)
                signal.signal(number, signal.SIG_IGN)
            task.cancel()

        for number in ends:
            loop.add_signal_handler(number, end)
        try:
            return await start()
        except asyncio.CancelledError:
            raise KeyboardInterrupt from None

    return asyncio.run(guarded())


def environ(args: argparse.Namespace | None = None) -> dict[str, str]:
    """Return a copy of the process environment, with what `.env` sets. No other place reads it."""
    return {**({} if args is None else env_file(args)), **os.environ}


def env_file(args: argparse.Namespace) -> dict[str, str]:
    """Return the variables of `pass_env` that a file `.env` beside the suite has. Git and Tidegate never get them.

    Only on one's own machine, and for commands that judge the working tree: a pull request could bring such a file.
    """
    compares = hasattr(args, "base") or not hasattr(args, "config")
    if compares or os.environ.get("CI") or not (file := (args.repo / args.config).with_name(".env")).is_file():
        return {}
    from tidegate.suite.document import read_document  # 90 ms

    passed = read_document(args.repo / args.config, args.config).node(("pass_env",))
    names = {str(one.value) for one in passed.children} if passed and isinstance(passed.children, list) else set()
    lines = file.read_text(encoding="utf-8", errors="replace").splitlines()
    parts = [line.strip().removeprefix("export ").partition("=") for line in lines]
    return {
        name.strip(): value.strip().strip("\"'")
        for name, sign, value in reversed(parts)
        if sign and name.strip() in names
    }


def pipeline_options(args: argparse.Namespace, progress: Progress) -> Options:
    """Return the pipeline's options for these arguments. Commands without a selection run everything."""
    from tidegate.run.run_job import Options  # 430 ms
    from tidegate.suite.plan import EVERYTHING, Selection

    selection = EVERYTHING
    if hasattr(args, "scenario"):
        tags = tuple(tag.strip() for tag in args.tags.split(",") if tag.strip())
        selection = Selection(scenarios=tuple(args.scenario), agents=tuple(args.agent), tags=tags, tier=args.tier)
    return Options(
        environ=environ(args),
        progress=progress,
        config=getattr(args, "config", SUITE_FILE),
        selection=selection,
        jobs=args.jobs,
        replay_only=getattr(args, "replay_only", False),
    )


def run_work(args: argparse.Namespace, work: Callable[[Options], Coroutine[None, None, T]], **more: Any) -> T:
    """Run the work until it is done or stopped, show its progress, and return its result.

    It gets the options of the arguments, with `more` of them.
    """
    from rich.console import Console  # 200 ms

    from tidegate.cli.progress import make_progress

    with make_progress(Console(stderr=True), quiet=args.quiet, verbose=args.verbose) as progress:
        chosen = replace(pipeline_options(args, progress), **more)
        return run_until_stopped(lambda: work(chosen))
