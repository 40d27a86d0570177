"""Progress output: a live view on a terminal, plain lines in a log."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

from rich.console import Group
from rich.live import Live
from rich.table import Table
from rich.text import Text

from tidegate.model.progress import Progress
from tidegate.reports.filters import count, money, seconds
from tidegate.text.safe import log_line, one_line
from tidegate.text.shorten import shortened

if TYPE_CHECKING:
    from rich.console import Console, RenderableType

    from tidegate.model.measurement import TrialResult
    from tidegate.model.trial_spec import TrialSpec

Clock = Callable[[], float]
_OUTCOMES = {"pass": "pass", "fail": "FAIL", None: "not measured"}


class Steps(Progress):
    """Shows the steps on stderr, but no single trial: those that fail are only left out."""

    def __init__(self) -> None:
        self._said: set[str] = set()

    def say(self, text: str) -> None:
        """Print the step, unless an earlier round printed the same."""
        if text not in self._said:
            print(text, file=sys.stderr, flush=True)
        self._said.add(text)


@contextmanager
def make_progress(
    console: Console,
    *,
    quiet: bool = False,
    verbose: bool = False,
    command: Callable[[str], None] | None = None,
    said: set[str] | None = None,
) -> Iterator[Progress]:
    """Yield the progress view that fits the console. `verbose`: it keeps a line for every trial, with its reason.

    `said`: messages of earlier runs, which are not printed again; new ones are added. GitHub's log gets plain lines
    even if colours are forced. `command` sends a workflow command to the runner; with it, the log is folded into
    groups.
    """
    if quiet:
        yield Progress()
    elif console.is_terminal and not console.is_dumb_terminal and "GITHUB_ACTIONS" not in os.environ:
        view = LiveProgress(console, verbose=verbose, said=said)
        with Live(get_renderable=view.render, console=console, transient=True, refresh_per_second=8):
            yield view
    elif command is None:
        yield PlainProgress(console, verbose=verbose, said=said)
    else:
        folded = FoldedProgress(console, command)
        try:
            yield folded
        finally:
            folded.stage("")


class PlainProgress(Progress):
    """Prints one line for each finished trial and each message. Lines cannot control the terminal or the runner.

    Why a row does not pass is printed once for each reason; with `verbose`, for each trial.
    """

    def __init__(self, console: Console, *, verbose: bool = False, said: set[str] | None = None) -> None:
        self._console = console
        self._said = said
        self._told = _PrintedReasons(repeats=verbose)
        self._expected = 0
        self._finished = 0

    def say(self, text: str) -> None:
        """Print the text line by line."""
        for line in _new_lines(text, self._said):
            self._print(line)

    def expect(self, trials: int) -> None:
        """Add to the expected total."""
        self._expected += trials

    def finished(self, result: TrialResult) -> None:
        """Print the trial's outcome."""
        self._finished += 1
        total = str(max(self._expected, self._finished))
        number = f"[{self._finished:>{len(total)}}/{total}]"
        self._print(f"{number} {outcome_line(result)}")
        if reason := self._told.new_reason(result):
            self._print(f"{' ' * len(number)} {shortened(reason, self._console.width - len(number) - 1)}")

    def _print(self, line: str) -> None:
        self._console.print(log_line(line), style="none", markup=False, highlight=False, emoji=False, soft_wrap=True)


class FoldedProgress(PlainProgress):
    """Prints the same lines in GitHub's log, with a foldable group for each stage."""

    def __init__(self, console: Console, command: Callable[[str], None]) -> None:
        super().__init__(console)
        self._command = command
        self._open = False

    def stage(self, title: str) -> None:
        """End the current group and begin the next. An empty title begins none."""
        from tidegate.github.workflow_commands import END_GROUP, group  # 60 ms: only GitHub's log has groups

        if self._open:
            self._command(END_GROUP)
        if title:
            self._command(group(title))
        self._open = bool(title)


def _new_lines(text: str, said: set[str] | None) -> list[str]:
    """Return the lines of a text and add it to `said`; none if it is in there. None: texts may be repeated."""
    if said is None:
        return text.splitlines()
    lines = [] if text in said else text.splitlines()
    said.add(text)
    return lines


class _PrintedReasons:
    """Remembers which reasons have been printed. With `repeats`, every reason counts as new."""

    def __init__(self, *, repeats: bool) -> None:
        self._repeats = repeats
        self._known: set[tuple[str, str, str, str]] = set()

    def new_reason(self, result: TrialResult) -> str:
        """Return why the trial did not pass; '' if it passed, or if its row has failed for that reason before."""
        if result.decides == result.outcome == "pass":
            return ""
        reason = one_line(result.reason)
        told = result.side, result.scenario, result.agent, reason
        is_new = self._repeats or told not in self._known
        self._known.add(told)
        return reason if is_new else ""


def outcome_line(result: TrialResult) -> str:
    """Return the line for a trial: `head create_and_link × docs #1: FAIL, 3 commands, 2 errors, 1.2 s`."""
    name = f"{result.side} {one_line(result.scenario)} × {one_line(result.agent)} #{result.index}"
    parts = [_OUTCOMES[result.decides]]
    if result.outcome:
        parts += [count(result.metrics.command_count, "command"), count(result.metrics.error_count, "error")]
    if result.metrics.cost_usd is not None:
        parts.append(("about " if result.cost_guessed else "") + money(result.metrics.cost_usd))
    if result.metrics.duration_s is not None:
        parts.append(seconds(result.metrics.duration_s))
    return f"{name}: {', '.join(parts)}"


@dataclass
class _Running:
    since: float
    doing: str = ""


class LiveProgress(Progress):
    """Shows one line per running trial, with the totals below. Failures and messages scroll by above.

    A row that fails gets one line for each reason, not one for each repeat; with `verbose`, every trial gets a line.
    """

    def __init__(
        self, console: Console, clock: Clock = time.monotonic, *, verbose: bool = False, said: set[str] | None = None
    ) -> None:
        self._console = console
        self._said = said
        self._verbose = verbose
        self._told = _PrintedReasons(repeats=verbose)
        self._clock = clock
        self._since = clock()
        self._first: float | None = None  # when the first trial was started
        self._stage = ""
        self._running: dict[TrialSpec, _Running] = {}
        self._expected = 0
        self._outcomes = {"pass": 0, "FAIL": 0, "not measured": 0}
        self._cost: float | None = None  # USD, of finished trials; None if no agent reported a cost

    def say(self, text: str) -> None:
        """Print the text above the live lines."""
        for line in _new_lines(text, self._said):
            self._print(line, "")

    def stage(self, title: str) -> None:
        """Show the title before the totals."""
        self._stage = title

    def expect(self, trials: int) -> None:
        """Add to the expected total."""
        self._expected += trials

    def started(self, spec: TrialSpec) -> None:
        """Add a line for the trial."""
        if self._first is None:
            self._first = self._clock()
        self._running[spec] = _Running(since=self._clock())

    def step(self, spec: TrialSpec, text: str) -> None:
        """Show the step on the trial's line."""
        if spec in self._running:
            self._running[spec].doing = one_line(text)

    def finished(self, result: TrialResult) -> None:
        """Remove the trial's line and count its outcome. Print it if it did not pass, for a reason not yet printed."""
        self._running.pop(result.spec, None)
        outcome = _OUTCOMES[result.decides]
        self._outcomes[outcome] += 1
        if result.metrics.cost_usd is not None:
            self._cost = (self._cost or 0.0) + result.metrics.cost_usd
        style = {"pass": "", "fail": "red", None: "yellow"}[result.decides]
        if self._verbose:
            self._print(outcome_line(result), style)
        if reason := self._told.new_reason(result):
            name = f"{result.side} {one_line(result.scenario)} × {one_line(result.agent)}"
            self._print(shortened(f"{outcome} {name}: {reason}", self._console.width), style)

    def render(self) -> RenderableType:
        """Return the live lines."""
        now = self._clock()
        table = Table.grid(padding=(0, 2, 0, 0))
        for ratio in (None, 2, 3, None):
            table.add_column(no_wrap=True, overflow="ellipsis", ratio=ratio)
        table.expand = True
        for spec, running in list(self._running.items()):
            name = f"{one_line(spec.scenario)} × {one_line(spec.agent)} #{spec.index}"
            table.add_row(spec.side, Text(name), Text(running.doing, style="dim"), seconds(now - running.since))
        return Group(table, Text(self._totals(now), style="bold"))

    def _totals(self, now: float) -> str:
        done = sum(self._outcomes.values())
        found = [f"{number} {outcome}" for outcome, number in self._outcomes.items() if number]
        return " · ".join(
            [
                *filter(None, [self._stage]),
                f"{done} of {count(max(self._expected, done), 'trial')}",
                *found,
                *([] if self._cost is None else [money(self._cost)]),
                seconds(round(now - self._since)),
                *self._time_left(now, done),
            ]
        )

    def _time_left(self, now: float, done: int) -> list[str]:
        """Return the time left for the planned trials, estimated from the finished ones; empty if unknown."""
        left = self._expected - done
        if self._first is None or not done or left <= 0:
            return []
        return [f"at least {seconds(round((now - self._first) / done * left))} left"]

    def _print(self, line: str, style: str) -> None:
        self._console.print(one_line(line), style=style, markup=False, highlight=False, emoji=False)
