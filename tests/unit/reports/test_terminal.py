from __future__ import annotations

import io
import os
import re
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest
from rich.cells import cell_len
from rich.console import Console

from tidegate.model.measurement import Metrics
from tidegate.model.result import Result
from tidegate.reports.comment import comment_body
from tidegate.reports.terminal import final_line, print_durations, print_markdown, print_result, print_summary

GOLDEN = Path(__file__).parent / "golden/terminal"
Stories = Mapping[str, Callable[[], Result]]


def console(terminal: bool, width: int = 80) -> Console:
    return Console(file=io.StringIO(), force_terminal=terminal, width=width, _environ={"TERM": "xterm"})


def printed(markdown: str, on: Console) -> str:
    print_markdown(markdown, on)
    return written(on)


def written(on: Console) -> str:
    assert isinstance(on.file, io.StringIO)
    return on.file.getvalue()


def summary(result: Result, on: Console, *, verbose: bool = False, alone: bool = False) -> list[str]:
    print_summary(result, on, verbose=verbose, alone=alone)
    on.print(final_line(result), soft_wrap=not on.is_terminal)
    return [line.rstrip() for line in written(on).splitlines()]


def test_a_log_gets_text_without_html_and_escapes() -> None:
    fold = "<details>\n<summary>More</summary>\n\n```\n&lt; \\_\n```\n</details>\n"
    markdown = f"## a\\_b costs &#36;1 &lt;x&gt;&#8203;\n\n{fold}"
    assert printed(markdown, console(terminal=False)) == "## a_b costs $1 <x>\n\n#### More\n\n```\n&lt; \\_\n```\n\n"


def test_no_log_line_can_steer_a_runner(stories: Stories) -> None:
    lines = printed(comment_body(stories["hostile"]()), console(terminal=False)).splitlines()
    assert not [line for line in lines if line.lstrip().startswith("::")]
    assert ": :error::forged" in lines


def test_no_name_can_colour_a_terminal(stories: Stories) -> None:
    on = Console(file=io.StringIO(), force_terminal=True, width=80, color_system=None)
    assert "\x1b[31m" not in "\n".join(summary(stories["hostile"](), on, verbose=True))


def test_the_slowest_trials_come_first_and_those_without_a_time_are_left_out(stories: Stories) -> None:
    first, second, third, *_ = stories["one_regression"]().trials
    times = ((first, 2.0), (second, 70.0), (third, None))
    trials = [one.model_copy(update={"metrics": Metrics(duration_s=time), "around_s": 0.5}) for one, time in times]
    on = console(terminal=False)
    print_durations(trials, 3, on)
    assert written(on).splitlines() == [
        "--- slowest 3 trials ---",
        f"1 min 10 s  {second.side} {second.scenario} × {second.agent} #{second.index} (agent 1 min 10 s)",
        f"   2.5 s  {first.side} {first.scenario} × {first.agent} #{first.index} (agent 2.0 s)",
    ]


def test_what_to_do_is_said_once(stories: Stories) -> None:
    """Where a finding says what to fix, the summary does not; printed alone, or without a known cause, it does."""
    result = stories["one_regression"]()
    unknown = result.model_copy(update={"causes": ()})
    for shown, alone in ((result, True), (unknown, False)):
        lines = summary(shown, console(terminal=False), alone=alone)
        assert [line for line in lines if line.startswith("What to do: Fix what broke")]
    assert not [line for line in summary(result, console(terminal=False)) if "What to do" in line]


def test_colours_are_for_terminals_that_want_them(stories: Stories) -> None:
    result = stories["one_regression"]()
    plain = Console(file=io.StringIO(), force_terminal=True, width=80, _environ={"NO_COLOR": "1", "TERM": "xterm"})
    assert any("\x1b[1;31mregressed" in line for line in summary(result, console(terminal=True)))
    assert not any("\x1b[" in line for line in summary(result, console(terminal=False)))
    assert not any("\x1b[1;31m" in line for line in summary(result, plain))


def test_the_lines_of_a_diff_have_its_colours_and_other_code_has_none() -> None:
    text = printed("```diff\n- old\n+ new\n  same\n```\n\n```sh\nif - false\n```\n", console(terminal=True))
    assert re.findall(r"\x1b\[(\d+)m(.*?)\x1b\[0m", text) == [("31", "- old"), ("32", "+ new")]


def test_a_line_of_the_summary_is_cut_at_the_terminals_width(stories: Stories) -> None:
    on = Console(file=io.StringIO(), force_terminal=True, width=60, color_system=None)
    *rows, _ = summary(stories["one_regression"](), on)
    assert max(cell_len(line) for line in rows) <= 60


def test_only_a_terminal_gets_hyperlinks_and_only_to_the_repository(stories: Stories) -> None:
    for name in ("one_regression", "hostile"):
        on = console(terminal=True)
        print_result(stories[name](), on)
        links = LINK.findall(written(on))
        assert {link for link in links if link} == {
            link for link in links if link.startswith("https://github.com/octo/")
        }
        assert links or name == "hostile"
        log = console(terminal=False)
        print_result(stories[name](), log)
        assert not LINK.search(written(log))


LINK = re.compile(r"\x1b\]8;[^;]*;([^\x1b]*)\x1b\\")
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
    summary(stories[name](), on)
    assert isinstance(on.file, io.StringIO)
    shown = LINK.sub("", re.sub(r"\x1b\[[\d;]*m", "", on.file.getvalue()))
    text = "\n".join(line.rstrip() for line in shown.splitlines()) + "\n"
    path = GOLDEN / f"{name}, {terminal}.txt"
    if os.environ.get("TIDEGATE_UPDATE_GOLDEN"):
        path.write_text(text, encoding="utf-8")
    assert path.read_text(encoding="utf-8") == text
    if on.is_terminal:
        assert max(cell_len(line) for line in text.splitlines()) <= on.width
