"""`tidegate label`: a person says whether criteria are met, without being told what the judge thinks."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.console import Console

    from tidegate.labelling import Item
    from tidegate.model.calibration import Label, Mark

DESCRIPTION = """\
Shows judged trials one criterion at a time, the doubtful ones first, and asks whether it is met. What the judge thinks
is not shown: a person who knows it follows it. Each answer is kept at once; what has one is not asked again.
`tidegate calibrate` compares the answers with the judge's.
"""
LAST_LINES = 25
KEYS = "[y] met  [n] not met  [t] the whole trial  [s] skip  [q] quit"


def add(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Register the command."""
    parser = commands.add_parser("label", help="say of judged trials what a person thinks", description=DESCRIPTION)
    parser.add_argument("stored", type=Path, metavar="RUN", help="a stored run, or what `tidegate pr` wrote")
    parser.add_argument("--labels", type=Path, metavar="FILE", help="where labels are kept (default: RUN/labels.jsonl)")
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Ask until there is nothing left, or the person has enough."""
    from rich.console import Console

    from tidegate.errors import ConfigurationError
    from tidegate.labelling import items
    from tidegate.store.directory import stored_runs
    from tidegate.store.labels import add_label, read_labels

    place = args.stored
    file = args.labels or (place if place.is_dir() else place.parent) / "labels.jsonl"
    runs = stored_runs(place)
    labels = read_labels(file) if file.exists() else []
    left = items([trial for run in runs for trial in run.trials], labels, _suspicious(place / "result.json"))
    if not left and not labels:
        raise ConfigurationError(f"{place} holds nothing that a judge has judged.", "Give its scenarios a `judge`.")
    console = Console()
    given = 0
    for number, item in enumerate(left, 1):
        _show(console, item, f"{number} of {len(left)}")
        answer = _answer(console, place, item)
        if answer == "q":
            break
        if answer != "s":
            add_label(file, _label(item, "met" if answer == "y" else "unmet"))
            given += 1
    console.print(f"{given} labelled, {len(left) - given} left: {file}", highlight=False)
    return 0


def _suspicious(result: Path) -> set[tuple[str, str]]:
    """The rows that a comparison beside the runs could not decide on; none where there is no comparison."""
    from pydantic import ValidationError

    from tidegate.model.result import Result

    try:
        found = Result.model_validate_json(result.read_bytes())
    except (OSError, ValidationError):
        return set()
    return {(row.scenario, row.agent) for row in found.rows if row.state == "suspicious"}


def _show(console: Console, item: Item, place: str) -> None:
    """The criterion, and how the trial ended."""
    from rich.markup import escape
    from rich.rule import Rule

    from tidegate.reports.text import one_line

    trial = item.trial
    name = trial.id.partition("/")[2]  # without its side, which a person would go by
    console.print(Rule(f"{place}: {escape(one_line(name))}", align="left"))
    console.print(f"[bold]{escape(item.criterion)}[/]: {escape(one_line(item.description))}", highlight=False)


def _answer(console: Console, place: Path, item: Item) -> str:
    """One of y, n, s, q; the end of the input is q."""
    _tell(console, place, item, short=True)
    while True:
        console.print(KEYS, markup=False, highlight=False)
        try:
            answer = input("> ").strip().lower()[:1]
        except EOFError:
            return "q"
        if answer == "t":
            _tell(console, place, item, short=False)
        elif answer in ("y", "n", "s", "q"):
            return answer


def _tell(console: Console, place: Path, item: Item, *, short: bool) -> None:
    """The trial as a story; or its last lines, with the agent's last words. Nothing of the judge's."""
    from tidegate.labelling import without_opinions
    from tidegate.reports.show import trial_story
    from tidegate.rubrics.transcript import transcript
    from tidegate.store.directory import run_folder_of

    trial = item.trial
    events = tuple(run_folder_of(place, trial.side).events(trial.spec))
    if short:
        lines = transcript(events).splitlines()
        console.print("\n".join(lines[-LAST_LINES:]), markup=False, highlight=False)
    else:
        console.print(trial_story(without_opinions(trial), events))


def _label(item: Item, verdict: Mark) -> Label:
    from tidegate.model.calibration import Label

    return Label(trial=item.trial.id, criterion=item.criterion, verdict=verdict)
