"""Print a result to a terminal or a log: the evidence of each finding once, then a short summary."""

from __future__ import annotations

import html
import re
from collections import Counter
from collections.abc import Iterable, Iterator
from statistics import fmean

from rich.console import Console
from rich.rule import Rule
from rich.table import Table
from rich.text import Text

from tidegate.decide.comparison.whole_suite import cannot_guard
from tidegate.model.cause import Cause
from tidegate.model.comparison import Row
from tidegate.model.measurement import TrialResult
from tidegate.model.plan import RowKey
from tidegate.model.result import Result
from tidegate.model.suite import RowState
from tidegate.reports.cause_text import says
from tidegate.reports.comment import terminal_markdown
from tidegate.reports.filters import code, score, seconds, signed, words
from tidegate.reports.model_filters import passed
from tidegate.reports.view import STATE_SIGNS, comment_view
from tidegate.text.safe import log_line, one_line
from tidegate.text.shorten import shortened

_FOLD = re.compile(r"^<details>\n<summary>(.*)</summary>$", re.MULTILINE)
_SUMMARY_CODE = re.compile(r"<code>(.*)</code>")
_FOLD_END = re.compile(r"^</details>$", re.MULTILINE)
_SMALL = re.compile(r"</?sub>")
_FENCE = re.compile(r"^(```+).*?^\1$", re.MULTILINE | re.DOTALL)
_ESCAPE = re.compile(r"\\([!-/:-@\[-`{-~])")
_ZERO_WIDTH = "&#8203;"
_STYLES: dict[RowState, str] = {
    "regressed": "bold red",
    "unconfirmed": "yellow",
    "not_measured": "yellow",
    "baseline_changed": "yellow",
    "flaky": "magenta",
    "improved": "bold green",
    "ok": "green",
}
_LONGEST_NAME = 60
_LONGEST_LINE = 200  # characters of a line of the summary in a log


def print_result(result: Result, console: Console, *, verbose: bool = False) -> None:
    """Print the findings with their evidence. `verbose`: also each trial, and what the comment folds."""
    print_markdown(terminal_markdown(result, verbose=verbose), console)


def print_summary(result: Result, console: Console, *, verbose: bool = False, alone: bool = False) -> None:
    """Print one line for each row that is not `ok`, with `verbose` for each row, and what to do.

    `alone`: the findings were not printed; otherwise what they say about the fix is not repeated.
    """
    lines = list(_summary_lines(result, verbose, console.width if console.is_terminal else _LONGEST_LINE))
    if lines:
        _print_rule("short summary", console)
    for line in lines:
        _print(line, console)
    view = comment_view(result)
    label = "" if view.explained and not alone else "What to do: "
    for step in view.advice if alone else view.next_steps:
        console.print(Text(f"{label}{step}"), soft_wrap=not console.is_terminal)


def final_line(result: Result) -> Text:
    """Return the last line: the verdict, how many rows have which state, and the time: `failed: 2 regressed, 6 ok`."""
    found = Counter(row.state for row in result.rows)
    counts = [f"{found[state]} {words(state)}" for state in STATE_SIGNS if found[state]]
    neither = sum(row.state == "ok" and cannot_guard(row) for row in result.rows)
    if neither:  # these are `ok` only because head is not worse
        counts = [*(one for one in counts if one != f"{found['ok']} ok"), f"{neither} passing on neither side"]
        counts += [f"{found['ok'] - neither} ok"] if found["ok"] > neither else []
    states = ", ".join(counts)
    accepted = " (accepted)" if result.verdict.accepted_by else ""
    style = {"passed": "bold green", "failed": "bold red"}.get(result.verdict.state, "bold yellow")
    what = states or one_line(result.verdict.summary)
    return Text(f"{words(result.verdict.state)}{accepted}: {what} in {seconds(result.cost.seconds)}", style=style)


def _summary_lines(result: Result, verbose: bool, width: int) -> Iterator[Text]:
    """Yield a line for each row, the most important first: state, name, passes of both sides, and what is known."""
    rank = {state: place for place, state in enumerate(STATE_SIGNS)}
    rows = sorted((row for row in result.rows if verbose or row.state != "ok"), key=lambda row: rank[row.state])
    causes = {key: _placed(cause) for cause in result.causes for key in cause.rows}
    widest = max((len(words(row.state)) for row in rows), default=0)
    names = max((len(_name(row)) for row in rows), default=0)
    for row in rows:
        line = Text(f"{words(row.state):<{widest}}", style=_STYLES.get(row.state, ""))
        line.append(f"  {_name(row):<{min(names, _LONGEST_NAME)}}  {passed(row.base)} → {passed(row.head)}", style="")
        known = Text(f"  {_known(row, causes)}".rstrip(), style="dim")
        if width < _LONGEST_LINE and line.cell_len + known.cell_len > width:
            line.truncate(width, overflow="ellipsis")
            yield line
            line = Text()
        line.append_text(known)
        line.truncate(width, overflow="ellipsis")
        yield line


def _placed(cause: Cause) -> str:
    """Return the cause, after the changed line that it comes from, as terminals open it: `bin/todo:12: …`."""
    return f"{cause.at.where}: {says(cause)}" if cause.at else says(cause)


def _name(row: Row) -> str:
    return shortened(f"{one_line(row.scenario)} × {one_line(row.agent)}", _LONGEST_NAME)


def _known(row: Row, causes: dict[RowKey, str]) -> str:
    """Return the row's cause, else its failed gate, else the reason of its state."""
    if row.judge and row.judge.not_measured:
        return f"judge: not measured: {one_line(row.judge.not_measured)}"
    if row.judge and row.judge.head.below and row.state == "ok":
        return f"judge: {row.judge.head.below} of {row.judge.head.judged} trials failed"
    gate = f"failed check: {row.evidence.gate}" if row.evidence and row.evidence.gate else ""
    return one_line(causes.get(row.key) or (gate if row.kind == "outcome" and row.state == "regressed" else row.reason))


def _print_rule(title: str, console: Console) -> None:
    console.print(Rule(title, style="dim") if console.is_terminal else f"--- {title} ---")


def _print(line: Text, console: Console) -> None:
    if not console.is_terminal:
        line = Text(log_line(line.plain))
    console.print(line, soft_wrap=True)


def print_markdown(markdown: str, console: Console) -> None:
    """Print Markdown: rendered on a terminal; elsewhere as text without HTML and escapes."""
    if console.is_terminal:
        from tidegate.reports.rendered_markdown import THEME, RenderedMarkdown  # 30 ms

        with console.use_theme(THEME):
            console.print(RenderedMarkdown(_unfolded(markdown)))
        return
    for line in _as_text(_unfolded(markdown)).splitlines():
        console.print(log_line(line), markup=False, highlight=False, emoji=False, soft_wrap=True)


def _unfolded(text: str) -> str:
    """Return the text without folded sections and zero-width spaces, which have no use on a terminal."""
    text = _FOLD_END.sub("", _FOLD.sub(lambda fold: f"#### {_SUMMARY_CODE.sub(_as_code, fold[1])}", text))
    return text.replace(_ZERO_WIDTH, "")


def _as_code(found: re.Match[str]) -> str:
    return code(html.unescape(found[1].replace(_ZERO_WIDTH, "")))


def _as_text(markdown: str) -> str:
    """Return Markdown without entities, backslash escapes and tags outside of its code blocks."""
    pieces, end = [], 0
    for fence in _FENCE.finditer(markdown):
        pieces += [_unescaped(markdown[end : fence.start()]), fence[0]]
        end = fence.end()
    return "".join([*pieces, _unescaped(markdown[end:])])


def _unescaped(text: str) -> str:
    text = re.sub(r"\n{3,}", "\n\n", _SMALL.sub("", text))
    return html.unescape(_ESCAPE.sub(r"\1", text))


def print_durations(trials: Iterable[TrialResult], most: int, console: Console) -> None:
    """Print a line for each of the `most` slowest trials. A trial whose agent's time is not known is left out."""
    if most:
        _print_rule(f"slowest {most} trials", console)
    for line in _durations(trials, most):
        _print(line, console)


def _durations(trials: Iterable[TrialResult], most: int) -> Iterator[Text]:
    """Yield each trial's time, its name, and how much of the time the agent took."""
    timed = sorted(((trial.seconds, trial) for trial in trials if trial.seconds is not None), key=lambda one: -one[0])
    for whole, trial in timed[:most]:
        name = f"{trial.side} {one_line(trial.scenario)} × {one_line(trial.agent)} #{trial.index}"
        yield Text(f"{seconds(whole):>8}  {name} (agent {seconds(trial.metrics.duration_s)})")


def score_table(result: Result) -> Table | None:
    """Return a table with each row's mean case score, or judge's score, on both sides, and their means.

    It shows moves that cross no threshold, too. None if no row has a score on both sides.
    """
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0))
    for name in ("scenario", "agent"):
        table.add_column(name, overflow="fold")
    for name in ("base", "head", "difference"):
        table.add_column(name, justify="right", no_wrap=True)
    found = [(row, base, head) for row in result.rows for base, head in _scores(row)]
    for row, base, head in found:
        names = (Text(shortened(one_line(name), _LONGEST_NAME)) for name in (row.scenario, row.agent))
        table.add_row(*names, score(base), score(head), signed(head - base, 2))
    if found:
        base, head = (fmean(scores) for scores in zip(*((base, head) for _, base, head in found), strict=True))
        table.add_row("mean", "", score(base), score(head), signed(head - base, 2))
    return table if found else None


def _scores(row: Row) -> Iterator[tuple[float, float]]:
    change = row.metrics.get("case_score") or row.metrics.get("judge_score")
    if change and change.base is not None and change.head is not None:
        yield change.base, change.head
