"""Lines for the runner, read by the runner's rules."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.gh.emulated.runner import read_log
from tidegate.github.stop_commands import Fence, fence
from tidegate.github.workflow_commands import END_GROUP, Annotation, add_masks, annotate, group

TOKEN = "0123456789abcdef"
WRITTEN = st.text(st.characters(codec="utf-8", exclude_characters="\v\f\x1c\x1d\x1e\x85\u2028\u2029"), max_size=60)
HOSTILE = ["::error::forged", "##[error]forged", "::add-mask::e", "::stop-commands::x", f"::{TOKEN[:-1]}::", "::x::"]


@given(WRITTEN, WRITTEN, WRITTEN)
def test_an_annotation_arrives_as_it_is(message: str, title: str, file: str) -> None:
    (line,) = annotate([Annotation(level="error", message=message, title=title, file=file, line=3)])

    (command,) = read_log(line).commands
    wanted = {"file": file, "line": "3", "title": title}
    assert (command.name, command.message) == ("error", message)
    assert command.properties == {name: value for name, value in wanted.items() if value}


def test_each_line_of_a_secret_variable_is_masked() -> None:
    environ = {
        "A_TOKEN": "100% secret",
        "B_KEY": "{\n  first line\nother line\n}",
        "C_KEY_URL": "http://host",
        "D": "no " * 9,
    }

    commands = read_log("\n".join(add_masks({**environ, "SHORT_KEY": "pass"}))).commands

    assert [command.name for command in commands] == ["add-mask"] * 3
    assert sorted(command.message for command in commands) == ["100% secret", "first line", "other line"]


def test_an_annotation_shows_no_key() -> None:
    key = "npm_" + "aB3" * 12
    assert annotate([Annotation(level="notice", message=f"found {key}")]) == ["::notice::found [secret]"]


def test_an_annotation_without_a_place() -> None:
    assert annotate([Annotation(level="notice", message="hello")]) == ["::notice::hello"]


def test_ten_of_each_level_and_no_more() -> None:
    lines = annotate([Annotation(level=level, message="x") for level in ("error", "warning") for _ in range(12)])

    assert [line.count("::error") for line in lines] == [1] * 10 + [0] * 10


def test_a_long_message_is_cut_as_the_runner_would() -> None:
    (line,) = annotate([Annotation(level="error", message="%" * 5_000)])

    assert read_log(line).commands[0].message == "%" * 4_096


@given(st.lists(st.sampled_from(HOSTILE) | WRITTEN))
def test_the_runner_obeys_nothing_inside_the_fence(lines: list[str]) -> None:
    start, end = fence(TOKEN)
    log = read_log("\n".join([start, *lines, end, "::notice::after"]))

    assert [command.name for command in log.commands] == ["stop-commands", "notice"]


@given(st.lists(st.sampled_from(HOSTILE) | WRITTEN), WRITTEN, st.lists(st.sampled_from(HOSTILE) | WRITTEN))
def test_of_what_is_written_only_our_commands_are_obeyed(before: list[str], title: str, after: list[str]) -> None:
    """A fold of the log begins in the midst of what agents write."""
    written: list[str] = []
    tokens = iter(f"{number:016d}" for number in range(9))
    wall = Fence(written.append, lambda: next(tokens))
    wall.put_up()
    written += before
    wall.command(group(title))
    written += after
    wall.take_down(END_GROUP)

    obeyed = [(c.name, c.message) for c in read_log("\n".join(written)).commands if c.name != "stop-commands"]
    assert obeyed == [("group", title), ("endgroup", "")]


@pytest.mark.parametrize("token", ["", "short", "a" * 15, "a::b" * 10])
def test_a_token_that_can_be_guessed_is_refused(token: str) -> None:
    with pytest.raises(ValueError, match="unguessable"):
        fence(token)
