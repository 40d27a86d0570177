"""`tidegate label`: records whether people consider criteria met. They do not see the judge's opinion."""

from __future__ import annotations

import argparse
import json
import re
import shlex
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from http import HTTPStatus
from importlib.resources import files
from pathlib import Path
from typing import Any, NamedTuple

from pydantic import ValidationError
from rich.console import Console
from rich.markup import escape
from rich.rule import Rule

from tidegate.checks.rubrics.work import transcript
from tidegate.cli.local_server import LocalHandler, LocalServer
from tidegate.errors import ConfigurationError
from tidegate.history.run_folder import run_folder_of, stored_runs
from tidegate.lab.labels import Item, add_label, items, read_labels, without_opinions
from tidegate.model.judge_result import Label, Mark
from tidegate.model.result import Result
from tidegate.reports.show import trial_story
from tidegate.text.safe import one_line, visible
from tidegate.text.shorten import shortened

MAX_BODY = 1_000  # bytes
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src data:; base-uri 'none';"
    " form-action 'none'; frame-ancestors 'none'"
)
_FILES = {
    "": ("label/label.html", "text/html"),
    "label.js": ("label/label.js", "text/javascript"),
    "dom.js": ("page/dom.js", "text/javascript"),
    "style.css": ("page/style.css", "text/css"),
}

Keep = Callable[[int, Mark], None]

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
    parser.add_argument("--page", action="store_true", help="ask in a browser, on a local page")


def run(args: argparse.Namespace) -> int:
    """Ask for labels until none is left or the person quits."""

    place = args.stored
    file = args.labels or (place if place.is_dir() else place.parent) / "labels.jsonl"
    runs = stored_runs(place)
    labels = read_labels(file) if file.exists() else []
    left = items([trial for run in runs for trial in run.trials], labels, _unconfirmed(place / "result.json"))
    if not left and not labels:
        raise ConfigurationError(f"{place} contains no judged trial.", "Give its scenarios a `judge`.")
    given: dict[int, Mark] = {}

    def keep(number: int, verdict: Mark) -> None:
        add_label(file, Label(trial=left[number].trial.id, criterion=left[number].criterion, verdict=verdict))
        given[number] = verdict

    (_on_a_page if args.page and left else _in_the_terminal)(place, left, given, keep)
    print(f"{len(given)} labelled, {len(left) - len(given)} left: {file}")
    if labels or given:
        command = shlex.join(["tidegate", "calibrate", str(file), "--run", str(place)])
        print(f"next: {command}")
    return 0


def _in_the_terminal(place: Path, left: Sequence[Item], given: Mapping[int, Mark], keep: Keep) -> None:

    console = Console()
    number = 0
    while number < len(left):
        _show(console, place, left[number], f"{number + 1} of {len(left)}")
        answer = _answer(console, place, left[number])
        if answer == "q":
            break
        if answer in ("y", "n"):
            keep(number, "met" if answer == "y" else "unmet")
        number = max(0, number + (-1 if answer == "b" else 1))


def _on_a_page(place: Path, left: Sequence[Item], given: Mapping[int, Mark], keep: Keep) -> None:

    def ask(number: int) -> Question:
        item = left[number]
        task, lines = _told(place, item)
        return Question(
            of=len(left),
            name=one_line(without_opinions(item.trial).id),
            criterion=one_line(item.criterion),
            description=one_line(item.description),
            task=visible(task),
            story="\n".join(lines),
            verdict=given.get(number),
        )

    with LabelServer(len(left), ask, keep) as server:
        print(f"open {server.url} ; its button Done, or Ctrl-C here, ends it, and every answer is kept", flush=True)
        with suppress(KeyboardInterrupt):
            server.serve_forever()


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


class Question(NamedTuple):
    """One criterion of one trial as shown to the person, and the label given so far."""

    of: int  # the number of questions
    name: str
    criterion: str
    description: str
    task: str
    story: str
    verdict: Mark | None


class LabelServer(LocalServer):
    """Serves the page. `ask` returns the question with a number; `keep` stores an answer."""

    def __init__(self, questions: int, ask: Callable[[int], Question], keep: Callable[[int, Mark], None]) -> None:
        super().__init__(_Handler)
        self.questions, self.ask, self.keep = questions, ask, keep


class _Handler(LocalHandler):
    policy = POLICY
    server: LabelServer

    def do_GET(self) -> None:  # noqa: N802 (the library's name)
        path = self.path_below()
        if path is None:
            return self.refuse(HTTPStatus.FORBIDDEN)
        if path in _FILES:
            name, kind = _FILES[path]
            return self.send_text(files("tidegate.templates").joinpath(name).read_text(encoding="utf-8"), kind)
        number = self._number(path)
        if number is None:
            return self.refuse(HTTPStatus.NOT_FOUND)
        return self.send_text(json.dumps(self.server.ask(number)._asdict()), "application/json")

    def do_POST(self) -> None:  # noqa: N802 (the library's name)
        path, body = self.path_below(), self._body()
        if path is None or self.headers.get("Origin") != self.server.origin:
            return self.refuse(HTTPStatus.FORBIDDEN)
        if path == "done":
            self.send_text("", "text/plain")
            return self.server.stop()
        number, verdict = self._number(path), body.get("verdict")
        if number is None or verdict not in ("met", "unmet"):
            return self.refuse(HTTPStatus.BAD_REQUEST)
        with self.server.lock:
            self.server.keep(number, verdict)
        return self.send_text("", "text/plain")

    def _number(self, path: str) -> int | None:
        asked = re.fullmatch(r"questions/([0-9]{1,6})", path)
        return int(asked[1]) if asked and int(asked[1]) < self.server.questions else None

    def _body(self) -> dict[str, Any]:
        length = re.fullmatch(r"[0-9]{1,6}", self.headers.get("Content-Length") or "")
        raw = self.rfile.read(min(int(length[0]), MAX_BODY)) if length else b""
        try:
            found = json.loads(raw)
        except ValueError:
            return {}
        return found if isinstance(found, dict) else {}
