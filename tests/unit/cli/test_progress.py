from __future__ import annotations

import io
from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.console import Console

from tests.make import spec, trial_result
from tidegate.cli.progress import LiveProgress, PlainProgress, make_progress
from tidegate.model.measurement import Metrics
from tidegate.model.progress import Progress

SPEC = spec(scenario="add_task", agent="docs")
PASSED = trial_result(
    scenario="add_task",
    agent="docs",
    reason="all gates passed",
    metrics=Metrics(command_count=3, error_count=1, duration_s=1.2),
)
FAILED = PASSED.model_copy(update={"outcome": "fail", "decides": "fail", "reason": "out.json\ndoes not exist"})
LOST = PASSED.model_copy(
    update={"outcome": None, "decides": None, "not_measured": "outage", "reason": "529", "metrics": Metrics()}
)


def console(terminal: bool = False) -> Console:
    return Console(file=io.StringIO(), width=80, force_terminal=terminal, color_system=None, _environ={"TERM": "xterm"})


def written(on: Console) -> str:
    assert isinstance(on.file, io.StringIO)
    return on.file.getvalue()


def rendered(view: LiveProgress) -> list[str]:
    on = console()
    on.print(view.render())
    return [line.rstrip() for line in written(on).splitlines()]


def test_a_log_has_a_line_for_each_trial_and_each_thing_said() -> None:
    on = console()
    view = PlainProgress(on)
    view.say("building base")
    view.expect(10)
    view.started(SPEC)
    view.step(SPEC, "taskmgr list")
    for result in (PASSED, FAILED, LOST):
        view.finished(result)
    assert written(on).splitlines() == [
        "building base",
        "[ 1/10] head add_task × docs #1: pass, 3 commands, 1 error, 1.2 s",
        "[ 2/10] head add_task × docs #1: FAIL, 3 commands, 1 error, 1.2 s",
        "        out.json does not exist",
        "[ 3/10] head add_task × docs #1: not measured",
        "        529",
    ]


@pytest.mark.parametrize("terminal", [False, True])
def test_what_an_earlier_run_said_is_not_said_again(terminal: bool) -> None:
    on, said = console(terminal), set[str]()
    for text in ("no users", "no users", "no network"):
        with make_progress(on, said=said) as progress:
            progress.say(text)
    assert [written(on).count(text) for text in ("no users", "no network")] == [1, 1]


@pytest.mark.parametrize(("verbose", "times"), [(False, 1), (True, 3)])
@pytest.mark.parametrize("view", [PlainProgress, LiveProgress])
def test_why_a_row_fails_is_printed_once_and_fits_80_columns(
    view: type[PlainProgress | LiveProgress], verbose: bool, times: int
) -> None:
    """Not for each repeat, but for `-v`."""
    on = console(terminal=view is LiveProgress)
    progress = view(on, verbose=verbose)
    long = FAILED.model_copy(update={"reason": "the output does not match " + "x" * 100})
    for _ in range(3):
        progress.finished(long)
    lines = written(on).splitlines()
    assert sum("the output does not match" in line for line in lines) == times
    assert max(map(len, lines)) <= 80
    progress.finished(long.model_copy(update={"scenario": "other"}))
    assert "the output does not match" in written(on).splitlines()[-1]


def test_a_long_line_of_a_log_is_not_wrapped() -> None:
    on = console()
    PlainProgress(on).say("x" * 200)
    assert written(on) == "x" * 200 + "\n"


@given(
    st.text()
    | st.sampled_from(["::error::x", " ::stop-commands::t", "a\n::error::x", "##[group]x", "[bold]x", "\x1b[2J"])
)
def test_nothing_in_a_log_steers_a_runner_or_a_terminal(text: str) -> None:
    on = console()
    view = PlainProgress(on)
    view.say(text)
    view.finished(FAILED.model_copy(update={"scenario": text, "agent": text, "reason": text}))
    for line in written(on).split("\n"):
        assert not line.lstrip().startswith("::")
        assert "##[" not in line
        assert line.isprintable() or not any(ord(character) < 32 for character in line)


def test_markup_of_rich_is_text() -> None:
    on = console()
    PlainProgress(on).say("[bold]x[/bold] :smile:")
    assert written(on) == "[bold]x[/bold] :smile:\n"


def test_the_live_view_has_a_line_for_each_running_trial() -> None:
    now = 100.0
    view = LiveProgress(console(terminal=True), clock=lambda: now)
    view.stage("screening")
    view.expect(12)
    view.started(SPEC)
    view.step(SPEC, "taskmgr add\x1b[2J x")
    now = 104.2
    assert rendered(view) == [
        "head  add_task × docs #1          taskmgr add x                            4.2 s",
        "screening · 0 of 12 trials · 4.0 s",
    ]
    view.stage("")
    view.finished(PASSED)
    assert rendered(view) == ["1 of 12 trials · 1 pass · 4.0 s · at least 46 s left"]


def test_the_live_view_keeps_what_did_not_pass_on_the_screen() -> None:
    on = console(terminal=True)
    view = LiveProgress(on)
    for result in (PASSED, FAILED, LOST):
        view.finished(result)
    assert written(on).splitlines() == [
        "FAIL head add_task × docs: out.json does not exist",
        "not measured head add_task × docs: 529",
    ]
    assert rendered(view)[-1].startswith("3 of 3 trials · 1 pass · 1 FAIL · 1 not measured")


def test_a_step_of_a_trial_that_has_ended_is_let_go() -> None:
    view = LiveProgress(console(terminal=True))
    view.step(SPEC, "late")
    assert len(rendered(view)) == 1


def test_a_trial_that_was_never_started_counts() -> None:
    view = LiveProgress(console(terminal=True))
    view.finished(LOST)
    assert rendered(view)[-1].startswith("1 of 1 trial · 1 not measured")


@pytest.mark.parametrize(
    ("terminal", "quiet", "github", "kind"),
    [
        (True, False, False, LiveProgress),
        (False, False, False, PlainProgress),
        (True, False, True, PlainProgress),
        (True, True, False, Progress),
    ],
)
def test_the_view_fits_the_console(
    monkeypatch: pytest.MonkeyPatch, terminal: bool, quiet: bool, github: bool, kind: type[Progress]
) -> None:
    """A runner's log stays free of control characters even where colours are forced."""
    monkeypatch.delenv("GITHUB_ACTIONS", raising=False)
    if github:
        monkeypatch.setenv("GITHUB_ACTIONS", "true")
    with make_progress(console(terminal), quiet=quiet) as view:
        assert type(view) is kind


def test_the_live_view_goes_away_and_gives_the_cursor_back(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("GITHUB_ACTIONS", raising=False)
    on = console(terminal=True)
    with suppress(KeyboardInterrupt), make_progress(on) as view:
        view.started(SPEC)
        raise KeyboardInterrupt
    assert written(on).rfind("\x1b[?25h") > written(on).rfind("\x1b[?25l")


def test_a_log_on_github_folds_every_part_of_the_run() -> None:
    """What follows the last part, as the comment that could not be written, is not folded away."""
    on = console()
    commands: list[str] = []
    with make_progress(on, command=commands.append) as progress:
        progress.stage("screening")
        progress.stage("confirming, 100%")
        progress.stage("")
        progress.say("said")
        progress.stage("left open")
    assert commands == [
        "::group::screening",
        "::endgroup::",
        "::group::confirming, 100%25",
        "::endgroup::",
        "::group::left open",
        "::endgroup::",
    ]
    assert written(on) == "said\n"
