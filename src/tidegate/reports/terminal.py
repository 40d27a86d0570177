"""Print the comment and a final table, to a terminal or a log."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from statistics import fmean

from rich.cells import cell_len
from rich.console import Console, ConsoleOptions, RenderableType, RenderResult
from rich.markdown import Markdown, TableElement
from rich.measure import Measurement
from rich.rule import Rule
from rich.table import Table
from rich.text import Text

from tidegate.model.comparison import Row
from tidegate.model.result import Result
from tidegate.model.suite import RowState
from tidegate.reports.comment import comment_body
from tidegate.reports.filters import points, score, signed
from tidegate.reports.model_filters import passed, words
from tidegate.reports.next_steps import advice
from tidegate.text.safe import log_line, one_line
from tidegate.text.shorten import shortened

_FOLD = re.compile(r"^<details>\n<summary>(.*)</summary>$", re.MULTILINE)
_FOLD_END = re.compile(r"^</details>$", re.MULTILINE)
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
_UNBOUND = 10_000  # columns


def print_result(result: Result, console: Console) -> None:
    """Print the comment. On a terminal, where a person sees the end first, the table of all rows comes last."""
    last = console.is_terminal and bool(result.rows)
    print_comment(comment_body(result, table=not last), console)
    if last:
        console.print(Rule(style="dim"))
        console.print(result_table(result), _verdict(result))
        if said := advice(result):
            console.print(Text(f"What to do: {' '.join(said)}"))


def _verdict(result: Result) -> Text:
    style = {"passed": "bold green", "failed": "bold red"}.get(result.verdict.state, "bold yellow")
    return Text(f"{words(result.verdict.state)}: {one_line(result.verdict.summary)}", style=style)


def print_comment(markdown: str, console: Console) -> None:
    """Print the comment: rendered on a terminal, as Markdown elsewhere."""
    if console.is_terminal:
        console.print(_Markdown(_unfolded(markdown), hyperlinks=False))
    else:
        for line in markdown.splitlines():
            console.print(log_line(line), markup=False, highlight=False, emoji=False, soft_wrap=True)


def _unfolded(text: str) -> str:
    """Return the text without folded sections and zero-width spaces, which have no use on a terminal."""
    text = _FOLD_END.sub("", _FOLD.sub(r"#### \1", text))
    return text.replace("&#8203;", "")


class _WholeNames(TableElement):
    """A table that, when it has to be narrowed, breaks no word in its first two columns: states and names."""

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        for table in super().__rich_console__(console, options):
            if isinstance(table, Table):
                table.padding = (0, 1, 0, 0)
                unbound = Measurement.get(console, options.update_width(_UNBOUND), table).maximum
                for place, column in enumerate(table.columns):
                    column.overflow = "fold"
                    if place < 2 and unbound > options.max_width:
                        column.width = min(_longest_word(column.cells), options.max_width // 3)
            yield table


def _longest_word(cells: Iterable[RenderableType]) -> int:
    return max((cell_len(word) for cell in cells for word in str(cell).split()), default=0)


class _Markdown(Markdown):
    elements = {**Markdown.elements, "table_open": _WholeNames}


def result_table(result: Result) -> Table:
    """Return a table with one line per row: its state, and the passes and trials of both sides."""
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0))
    for name in ("state", "scenario", "agent"):
        table.add_column(name, overflow="fold")
    for name in ("base", "head", "difference"):
        table.add_column(name, justify="right", no_wrap=True)
    for row in result.rows:
        table.add_row(
            _state(row),
            Text(shortened(one_line(row.scenario), _LONGEST_NAME)),
            Text(shortened(one_line(row.agent), _LONGEST_NAME)),
            passed(row.base),
            passed(row.head),
            points(row.effect.difference) if row.effect else "",
        )
    return table


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


def _state(row: Row) -> Text:
    """Return the row's state in its colour; an `ok` row that the judge could not judge is yellow."""
    if row.judge and row.judge.not_measured:
        return Text(
            f"{words(row.state)}, judge: not measured",
            style="yellow" if row.state == "ok" else _STYLES.get(row.state, ""),
        )
    return Text(words(row.state), style=_STYLES.get(row.state, ""))
