"""Render a stored run for the terminal: as a table, and each trial as a transcript."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.rule import Rule
from rich.table import Table
from rich.text import Text

from tidegate.model.event import Event
from tidegate.model.measurement import Call, EvaluatorScore, Run, TrialResult
from tidegate.model.plan import RowKey
from tidegate.reports.diagnosis import diagnose_run, hint
from tidegate.reports.filters import NONE, count, measured, money, number, percent, seconds, words
from tidegate.reports.judge_summary import trial_lines
from tidegate.reports.transcript import TranscriptStep, steps
from tidegate.text.safe import one_line, visible
from tidegate.text.scores import score_text
from tidegate.text.shorten import first_and_last, shortened

_OUTPUT_LINES = 8
_LINE = 400
_AT = 10  # width of the column with an event's time
_OUTCOMES = {"pass": ("✓ pass", "green"), "fail": ("✗ fail", "red"), None: ("– not measured", "yellow")}
_JUDGE_FAILED = ("✓ pass (judge failed)", "yellow")


def run_overview(run: Run, *, verbose: bool = True) -> RenderableType:
    """Return a header about the run, why rows failed, and, if `verbose`, a table with one line per trial."""
    revision = run.revision
    dirty = " with uncommitted changes" if revision.dirty else ""
    agents = ", ".join(
        f"{name} ({' '.join(filter(None, (agent.type, agent.model, agent.version)))})"
        for name, agent in run.agents.items()
    )
    time = "" if run.interrupted else f" in {seconds(run.seconds)}"
    lines: list[RenderableType] = [
        _text(f"{run.side}: {revision.ref} {revision.sha[:12]}{dirty}", "bold"),
        _text(f"{count(len(run.trials), 'trial')}{time} · agents: {agents or 'none'}"),
    ]
    if run.interrupted:
        lines.append(_text("interrupted: these are the trials that had finished", "yellow"))
    if run.build_error:
        lines.append(_text("the build failed:", "red"))
        lines += [_indented(line, 2) for line in _excerpt(run.build_error)]
    if verbose:
        lines += [Text(), _trials_table(run.trials)]
    return Group(*lines, *_reasons(run.trials), *_hints(run))


def run_final_line(run: Run) -> Text:
    """Return the last line for a run: `2 failed, 6 passed in 9.7 s`."""
    found = Counter(trial.decides for trial in run.trials)
    named = {"failed": found["fail"], "not measured": found[None], "passed": found["pass"]}
    counts = ", ".join(f"{number} {name}" for name, number in named.items() if number) or "no trials"
    style = "bold red" if found["fail"] else "bold yellow" if found[None] or not found else "bold green"
    return Text(f"{counts} in {seconds(run.seconds)}", style=style)


_INTERACTION = (
    "command_count",
    "error_rate",
    "retry_rate",
    "retry_after_failure_rate",
    "first_try_success_rate",
    "iteration_ratio",
    "help_count",
)


def _trials_table(trials: Sequence[TrialResult]) -> Table:
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0))
    for name in ("outcome", "scenario", "agent", "#"):
        table.add_column(name, overflow="fold")
    for name in ("commands", "errors", "time"):
        table.add_column(name, justify="right", no_wrap=True)
    for trial in trials:
        table.add_row(
            Text(*_outcome(trial)),
            _text(trial.scenario),
            _text(trial.agent),
            str(trial.index),
            number(trial.metrics.command_count) if _has_metrics(trial) else "–",
            number(trial.metrics.error_count) if _has_metrics(trial) else "–",
            seconds(trial.metrics.duration_s) if _has_metrics(trial) else "–",
        )
    return table


def _reasons(trials: Sequence[TrialResult]) -> Iterator[RenderableType]:
    """Yield why trials failed or were not measured, once per reason. A table column would be too narrow for it."""
    shared: dict[tuple[RowKey, str], list[str]] = {}
    for trial in trials:
        if trial.outcome != "pass" and trial.reason:
            shared.setdefault((trial.key, one_line(trial.reason)), []).append(f"#{trial.index}")
    for (key, reason), numbers in shared.items():
        yield Text()
        yield _text(f"{key} {', '.join(numbers)}:", "bold")
        yield _indented(reason, 2)


def _hints(run: Run) -> Iterator[RenderableType]:
    hints = [hint(found) for found in diagnose_run(run)]
    if hints:
        yield Text()
        yield _text("likely causes:", "bold")
    yield from (_indented(one, 2) for one in hints)


def trial_story(result: TrialResult, events: Sequence[Event]) -> RenderableType:
    """Return the trial's transcript: messages, calls with their output, gates, judge, metrics."""
    return Group(*_story(result, events))


def _story(result: TrialResult, events: Sequence[Event]) -> Iterator[RenderableType]:
    yield Rule(Text(one_line(result.id), style="bold"), align="left")
    sign, style = _outcome(result)
    yield _text(f"{sign}: {result.reason}", style)
    yield Text()
    found = steps(events, result.calls)
    for step in found:
        yield from _step(step, result.calls)
    made = {number for step in found for number in step.calls}
    yield from _other_calls([call for number, call in enumerate(result.calls, 1) if number not in made])
    yield from _gates(result)
    yield from _evaluators(result)
    yield from _judged(result)
    yield Text()
    if _has_metrics(result):
        yield from _metrics(result)
    for warning in result.warnings:
        yield _text(f"warning: {warning}", "yellow")


def _outcome(result: TrialResult) -> tuple[str, str]:
    """Return the outcome that counts, and its color. A model's opinion that does not count is said with it."""
    return _JUDGE_FAILED if (result.decides, result.outcome) == ("pass", "fail") else _OUTCOMES[result.decides]


def _has_metrics(result: TrialResult) -> bool:
    """Return True if the metrics describe finished work: also that of a transcript, which has no gates."""
    return result.outcome is not None or result.end == "completed"


def _judged(result: TrialResult) -> Iterator[RenderableType]:
    lines = list(trial_lines(result))
    if lines:
        score = result.metrics.judge_score
        yield Text()
        yield _text("judge:" if score is None else f"judge: {score_text(score)}", "bold")
        yield from (_indented(line, 2) for line in lines)


def _step(step: TranscriptStep, calls: Sequence[Call]) -> Iterator[RenderableType]:
    """Yield one step, with the recorded calls that it makes."""
    if step.kind == "message":
        yield _block(f"{step.title} says", step.text, "cyan")
    elif step.kind == "note":
        yield _indented(f"{step.title}: {step.text}", _AT, "yellow")
    elif step.kind == "end":
        yield _timed(step.at, f"{step.title}{': ' * bool(step.text)}{step.text}")
    else:
        if step.at is not None:  # a step of the agent's log, not a recorded call in its place
            yield _timed(step.at, step.title)
        yield from (_call_line(calls[number - 1]) for number in step.calls)
        yield _indented(f"→ {step.ended}", _AT, "" if step.ok else "red")
        yield from (_indented(line, _AT + 2, "dim") for line in _excerpt(step.text))


def _call_line(call: Call) -> Padding:
    ended = "" if call.exit_code is None else f" (exit {call.exit_code})"
    good = call.status == "ok"
    line = f"{'✓' if good else '✗'} {call.command}: {call.status}{ended}"
    return _indented(line, _AT, "green" if good else "red")


def _other_calls(calls: Sequence[Call]) -> Iterator[RenderableType]:
    """Yield recorded calls that match no event: calls from loops or scripts."""
    if calls:
        yield Text()
        yield _text("more calls of the target:", "bold")
        yield from map(_call_line, calls)


def _gates(result: TrialResult) -> Iterator[RenderableType]:
    if result.gates:
        yield Text()
        yield _text("gates:", "bold")
    for gate in result.gates:
        optional = "" if gate.required else " (not required)"
        mark, style = ("✓", "green") if gate.passed else ("✗", "red")
        yield _indented(f"{mark} {gate.label}{optional}", 2, style)
        if not gate.passed:
            yield from (_indented(line, 6) for line in _excerpt(gate.message))


def _evaluators(result: TrialResult) -> Iterator[RenderableType]:
    if result.evaluators:
        yield Text()
        yield _text("evaluators:", "bold")
    for one in result.evaluators:
        yield from _evaluator(one, 2)
        for member in one.members:
            yield from _evaluator(member, 4)


def _evaluator(one: EvaluatorScore, indent: int) -> Iterator[RenderableType]:
    score = "" if one.score is None else f" {score_text(one.score)}"
    more = "".join(f", {words(name)} {score_text(value)}" for name, value in one.metrics.items())
    style = {"pass": "green", "not_measured": "yellow"}.get(one.verdict, "red")
    yield _indented(f"{one.name}{score} {words(one.verdict)}{more}", indent, style)
    told = (one.reason, *(f"hit: {hit}" for hit in one.hits), *(f"miss: {miss}" for miss in one.misses))
    yield from (_indented(line, indent + 4) for line in told if line)


def _metrics(result: TrialResult) -> Iterator[RenderableType]:
    """Yield the interaction metrics, then what the trial took; values that were not reported are left out."""
    metrics, calls = result.metrics, result.invocations
    completed = {None: NONE, True: "yes", False: "no"}[metrics.completed]
    interaction = [f"{words(name)} {measured(getattr(metrics, name), name)}" for name in _INTERACTION]
    yield _text(" · ".join([*interaction, f"completed {completed}"]))
    if calls.not_counted:
        yield _text(
            "not counted: " + ", ".join(f"{words(name)} {amount}" for name, amount in calls.not_counted.items())
        )
    about = {"tokens_in": result.tokens_guessed, "tokens_out": result.tokens_guessed, "cost_usd": result.cost_guessed}
    effort = [
        f"{words(name)} {'about ' if about.get(name) else ''}{show(value)}"
        for name, show in (("turns", number), ("tokens_in", number), ("tokens_out", number), ("cost_usd", money))
        if (value := getattr(metrics, name)) is not None
    ]
    if metrics.step_efficiency is not None:
        effort.append(f"step efficiency {percent(metrics.step_efficiency)}")
    yield _text(" · ".join([f"time {seconds(metrics.duration_s)}", *effort]))


def _block(title: str, text: str, style: str) -> RenderableType:
    body = Text("\n".join(_excerpt(text, lines=40)))
    return Group(_indented(f"{title}:", _AT, style), Padding(body, (0, 0, 0, _AT + 2), expand=False))


def _excerpt(text: str, lines: int = _OUTPUT_LINES) -> list[str]:
    """Return the first and last lines, since errors are at either end."""
    return first_and_last(visible(text).strip("\n").split("\n"), lines) if text.strip() else []


def _text(line: str, style: str = "") -> Text:
    return Text(shortened(visible(line).replace("\n", " "), _LINE), style=style)


def _indented(line: str, indent: int, style: str = "") -> Padding:
    """Return a line whose wrapped parts keep the indent."""
    return Padding(_text(line, style), (0, 0, 0, indent), expand=False)


def _timed(at: float | None, line: str) -> Table:
    """Return a line with the step's time before it."""
    row = Table.grid(padding=(0, 2, 0, 0))
    row.add_row(Text(f"{at or 0.0:7.1f}s", style="bold"), _text(line, "bold"))
    return row
