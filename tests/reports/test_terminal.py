from __future__ import annotations

import io
import os
import re
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest
from rich.cells import cell_len
from rich.console import Console

from tidegate.model.result import Result
from tidegate.reports.comment import comment_body
from tidegate.reports.terminal import print_comment, print_result, result_table

GOLDEN = Path(__file__).parent / "golden/terminal"
Stories = Mapping[str, Callable[[], Result]]


def console(terminal: bool, width: int = 80) -> Console:
    return Console(file=io.StringIO(), force_terminal=terminal, width=width, _environ={"TERM": "xterm"})


def printed(markdown: str, on: Console) -> str:
    print_comment(markdown, on)
    assert isinstance(on.file, io.StringIO)
    return on.file.getvalue()


def test_a_log_gets_the_markdown(stories: Stories) -> None:
    markdown = comment_body(stories["one_regression"]())
    assert printed(markdown, console(terminal=False)) == markdown


def test_a_terminal_gets_it_rendered_within_its_width(stories: Stories) -> None:
    lines = printed(comment_body(stories["one_regression"]()), console(terminal=True)).splitlines()
    text = "\n".join(lines)
    assert "<details>" not in text
    assert "<summary>" not in text
    assert "<!--" not in text
    assert "All results" in text


@pytest.mark.parametrize("name", ["one_regression", "stochastic_regression", "partly_not_measured"])
def test_at_80_columns_no_name_is_broken(stories: Stories, name: str) -> None:
    """The table is narrowed where it may be: in its numbers."""
    result = stories[name]()
    on = Console(file=io.StringIO(), force_terminal=True, width=80, color_system=None)
    lines = [line.rstrip() for line in printed(comment_body(result), on).splitlines()]
    assert max(len(line) for line in lines) <= 80
    start = next(place for place, line in enumerate(lines) if line.startswith(" state "))
    table = "\n".join(lines[start:])
    for row in result.rows:
        assert row.scenario in table
        assert row.state.split("_")[0] in table


def test_no_log_line_can_steer_a_runner(stories: Stories) -> None:
    lines = printed(comment_body(stories["hostile"]()), console(terminal=False)).splitlines()
    assert not [line for line in lines if line.lstrip().startswith("::")]
    assert ": :error::forged" in lines


def test_no_name_can_colour_a_terminal(stories: Stories) -> None:
    on = Console(file=io.StringIO(), force_terminal=True, width=80, color_system=None)
    on.print(result_table(stories["hostile"]()))
    assert isinstance(on.file, io.StringIO)
    assert "\x1b[31m" not in on.file.getvalue()


def table_of(result: Result, on: Console) -> str:
    on.print(result_table(result))
    assert isinstance(on.file, io.StringIO)
    return on.file.getvalue()


def test_the_table_has_a_line_for_each_row(stories: Stories) -> None:
    lines = table_of(stories["one_regression"](), console(terminal=False)).splitlines()
    assert lines[0].split() == ["state", "scenario", "agent", "base", "head", "difference"]
    assert lines[4].split() == ["regressed", "add_high_priority", "docs", "2/2", "0/3", "−100", "points"]


def test_colours_are_for_terminals_that_want_them(stories: Stories) -> None:
    result = stories["one_regression"]()
    plain = Console(file=io.StringIO(), force_terminal=True, width=80, _environ={"NO_COLOR": "1", "TERM": "xterm"})
    assert "\x1b[1;31mregressed" in table_of(result, console(terminal=True))
    assert "\x1b[" not in table_of(result, console(terminal=False))
    assert "\x1b[1;31m" not in table_of(result, plain)


def test_the_table_keeps_to_the_width(stories: Stories) -> None:
    text = table_of(stories["hostile"](), console(terminal=False, width=60))
    assert max(len(line) for line in text.splitlines()) <= 60


def test_the_last_lines_on_a_terminal_are_the_rows_and_the_verdict(stories: Stories) -> None:
    on = Console(file=io.StringIO(), force_terminal=True, width=80, color_system=None)
    print_result(stories["one_regression"](), on)
    assert isinstance(on.file, io.StringIO)
    assert "All results" not in on.file.getvalue()
    assert "first try" not in on.file.getvalue(), "one table is enough"
    lines = [line.rstrip() for line in on.file.getvalue().rstrip().splitlines()]
    assert lines[-10:-2] == [
        "\u2500" * 80,
        "state      scenario           agent  base  head   difference",
        "ok         add_task           docs    1/1   1/1",
        "ok         list_tasks         docs    1/1   1/1",
        "ok         finish_task        docs    1/1   1/1",
        "regressed  add_high_priority  docs    2/2   0/3  −100 points",
        "failed: 1 of 4 scenarios regressed (add_high_priority)",
        "What to do: Fix the failures of the regressed rows. If this is intentional, a",
    ]


def test_without_colour_there_is_no_colour(stories: Stories) -> None:
    """NO_COLOR, as no-color.org asks for it; bold and the like may stay."""
    on = Console(
        file=io.StringIO(), force_terminal=True, width=80, _environ={"TERM": "xterm-256color", "NO_COLOR": "1"}
    )
    print_result(stories["one_regression"](), on)
    assert isinstance(on.file, io.StringIO)
    codes = {code for run in re.findall(r"\x1b\[([\d;]*)m", on.file.getvalue()) for code in run.split(";")}
    assert not [code for code in codes if code.isdigit() and 30 <= int(code) <= 107]


def test_a_log_has_no_second_table(stories: Stories) -> None:
    result, on = stories["one_regression"](), console(terminal=False)
    print_result(result, on)
    assert isinstance(on.file, io.StringIO)
    assert on.file.getvalue() == comment_body(result)


TERMINALS = {
    "80 columns": {"force_terminal": True, "width": 80, "_environ": {"TERM": "xterm", "NO_COLOR": "1"}},
    "120 columns": {"force_terminal": True, "width": 120, "_environ": {"TERM": "xterm", "NO_COLOR": "1"}},
    "a pipe": {"force_terminal": False, "width": 80, "_environ": {}},
}


@pytest.mark.parametrize("name", ["one_regression", "stochastic_regression", "unconfirmed", "all_fine", "hostile"])
@pytest.mark.parametrize("terminal", TERMINALS)
def test_the_terminal_shows_the_golden_text(stories: Stories, name: str, terminal: str) -> None:
    """To the last column; without colour, whose codes other tests look at. TIDEGATE_UPDATE_GOLDEN=1 writes anew."""
    on = Console(file=io.StringIO(), **TERMINALS[terminal])  # type: ignore[arg-type]
    print_result(stories[name](), on)
    assert isinstance(on.file, io.StringIO)
    shown = re.sub(r"\x1b\[[\d;]*m", "", on.file.getvalue())
    text = "\n".join(line.rstrip() for line in shown.splitlines()) + "\n"
    path = GOLDEN / f"{name}, {terminal}.txt"
    if os.environ.get("TIDEGATE_UPDATE_GOLDEN"):
        path.write_text(text, encoding="utf-8")
    assert path.read_text(encoding="utf-8") == text
    if on.is_terminal:
        assert max(cell_len(line) for line in text.splitlines()) <= on.width
