"""`tidegate label`: records whether people consider criteria met. They do not see the judge's opinion."""

from __future__ import annotations

import argparse
import shlex
from collections.abc import Sequence
from pathlib import Path

from pydantic import ValidationError
from rich.console import Console
from rich.markup import escape
from rich.rule import Rule

from tidegate.checks.rubrics.work import transcript
from tidegate.errors import ConfigurationError
from tidegate.history.run_folder import run_folder_of, stored_runs
from tidegate.lab.labels import Item, add_label, items, read_labels, without_opinions
from tidegate.model.judge_result import Label, Mark
from tidegate.model.result import Result
from tidegate.reports.show import trial_story
from tidegate.text.safe import one_line, visible
from tidegate.text.shorten import shortened

DESCRIPTION = """\
Shows judged trials one criterion at a time, uncertain ones first, and asks whether it is met. The judge's answer
stays hidden, so that it does not influence you. Answers are saved at once and not asked again. `tidegate calibrate`
compares them with the judge's.
"""
LAST_LINES = 25
MAX_TASK = 600  # characters
KEYS = "[y] met  [n] not met  [t] the whole trial  [s] skip  [b] back  [q] quit"


def add(parser: argparse.ArgumentParser) -> None:
    """Add its arguments."""
    parser.add_argument("stored", type=Path, metavar="RUN", help="a stored run, or what `tidegate pr` wrote")
    parser.add_argument("--labels", type=Path, metavar="FILE", help="file for the labels (default: RUN/labels.jsonl)")


def run(args: argparse.Namespace) -> int:
    """Ask for labels until none is left or the person quits."""

    place = args.stored
    file = args.labels or (place if place.is_dir() else place.parent) / "labels.jsonl"
    runs = stored_runs(place)
    labels = read_labels(file) if file.exists() else []
    left = items([trial for run in runs for trial in run.trials], labels, _unconfirmed(place / "result.json"))
    if not left and not labels:
        raise ConfigurationError(f"{place} contains no judged trial.", "Give its scenarios a `judge`.")
    given = _ask(place, left, file)
    print(f"{given} labelled, {len(left) - given} left: {file}")
    if labels or given:
        command = shlex.join(["tidegate", "calibrate", str(file), "--run", str(place)])
        print(f"next: {command}")
    return 0


def _ask(place: Path, left: Sequence[Item], file: Path) -> int:
    """Ask about one criterion after the other, until the person quits. Return how many have a label."""
    console = Console()
    given, number = set[int](), 0
    while number < len(left):
        _show(console, place, left[number], f"{number + 1} of {len(left)}")
        answer = _answer(console, place, left[number])
        if answer == "q":
            break
        if answer in ("y", "n"):
            verdict: Mark = "met" if answer == "y" else "unmet"
            add_label(file, Label(trial=left[number].trial.id, criterion=left[number].criterion, verdict=verdict))
            given.add(number)
        number = max(0, number + (-1 if answer == "b" else 1))
    return len(given)


def _told(place: Path, item: Item) -> tuple[str, list[str]]:
    """Return the agent's task, and the lines of its transcript."""

    store, spec = run_folder_of(place, item.trial.side), item.trial.spec
    return store.prompt(spec), visible(transcript(store.events(spec))).splitlines()


def _unconfirmed(result: Path) -> set[tuple[str, str]]:
    """Return the unconfirmed rows in the result.json beside the runs; empty if there is no such file."""

    try:
        found = Result.model_validate_json(result.read_bytes())
    except (OSError, ValidationError):
        return set()
    return {(row.scenario, row.agent) for row in found.rows if row.state == "unconfirmed"}


def _show(console: Console, place: Path, item: Item, number: str) -> None:
    """Print the trial's name, its task and the last lines of its transcript."""

    task, lines = _told(place, item)
    console.print()
    console.print(Rule(f"{number}: {escape(one_line(without_opinions(item.trial).id))}", align="left"))
    console.print(f"[bold]task[/]: {escape(shortened(one_line(task), MAX_TASK))}", highlight=False)
    if len(lines) > LAST_LINES:
        console.print(f"… {len(lines) - LAST_LINES} more lines above", style="dim", highlight=False)
    console.print("\n".join(lines[-LAST_LINES:]), markup=False, highlight=False)


def _answer(console: Console, place: Path, item: Item) -> str:
    """Ask about the criterion, and return y, n, b, s or q. The end of the input and Ctrl-C count as q."""

    while True:
        console.print(f"[bold]{escape(item.criterion)}[/]: {escape(one_line(item.description))}", highlight=False)
        console.print(KEYS, markup=False, highlight=False)
        try:
            answer = input("> ").strip().lower()[:1]
        except (EOFError, KeyboardInterrupt):
            return "q"
        if answer == "t":
            _tell(console, place, item)
        elif answer in ("y", "n", "b", "s", "q"):
            return answer


def _tell(console: Console, place: Path, item: Item) -> None:
    """Print the whole trial without the judge's opinions."""

    events = tuple(run_folder_of(place, item.trial.side).events(item.trial.spec))
    console.print(trial_story(without_opinions(item.trial), events))
