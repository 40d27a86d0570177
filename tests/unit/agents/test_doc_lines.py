"""Which lines of a document are examples. The lines are of real READMEs' kinds."""

from __future__ import annotations

from pathlib import Path

import pytest

from tidegate.agents.instructions import Block, address, blocks, foreign, missing_file, synopsis, unfinished


def block(*lines: str, language: str = "sh") -> Block:
    (found,) = blocks("\n".join([f"```{language}", *lines, "```"]), "tool")
    return found


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ("tool [-fhp] [-d config] action", "it has optional arguments in brackets"),
        ("tool list [TERM...]", "it has optional arguments in brackets"),
        ("tool do NR [NR ...]", "it has optional arguments in brackets"),
        ("tool run ARG...", "it has optional arguments in brackets"),
        ("tool ls|list", "it has alternatives (`a|b`)"),
        ("tool append NR 'some text'", "`NR` stands for a value"),
        ('tool prep NR"SOME TEXT"', '`NR"SOME TEXT"` stands for a value'),
        ("tool --output=FILE x", "`--output=FILE` stands for a value"),
        ("COMMAND | tool --x", "`COMMAND` stands for a value"),
        ("tool set KEY=VALUE", "`KEY=VALUE` stands for a value"),
        ("tool open path/to/notes", "it holds a placeholder"),
        ("tool open your-notes", "it holds a placeholder"),
        ('tool --quiet "$@"', "no line sets `$@`"),
        ("tool add $TITLE", "no line sets `$TITLE`"),
    ],
)
def test_a_synopsis_is_not_an_example(line: str, reason: str) -> None:
    found = block(line)
    (example,) = found
    assert (example.unfit or synopsis(example, found)) in (reason, "it holds a placeholder")


@pytest.mark.parametrize(
    "line",
    [
        'tool add "THING I NEED TO DO"',
        "tool send POST id=TASK-1",
        "tool log --level DEBUG",
        "tool list | grep x",
        "tool -e 'this.age++ || FOO'",
        'tool add "$HOME/x"',
        "tool add '$TITLE' 'a|b'",
        "tool ls [ab]*.txt",
        "ID=$(tool add a) && tool show $ID",
        "for name in a b; do tool add $name; done",
    ],
)
def test_an_example_with_real_values_is_one(line: str) -> None:
    found = block(line)
    assert [synopsis(example, found) for example in found] == [None]


def test_a_variable_that_an_earlier_line_sets_is_known() -> None:
    found = block("export TITLE=x", "tool add $TITLE")
    assert synopsis(found[1], found) is None


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ("dig example.org | tool --dig", "it also needs `dig`"),
        ("cat /etc/hosts | tool --hosts", "it reads /etc/hosts, outside of the workspace"),
        ("tool /proc/*/status", "it reads /proc/*/status, outside of the workspace"),
        ("sudo tool serve", "it needs `sudo`"),
        ("echo '{}' | tool foo.bar > out.txt 2> /dev/null", None),
        ("tool list | sort | head -1", None),
    ],
)
def test_a_line_about_more_than_the_tool_is_foreign(line: str, reason: str | None) -> None:
    (example,) = block(line)
    assert foreign(example, "tool") == reason


@pytest.mark.parametrize("place", ["https://example.org/x", "example.com"])
def test_a_line_with_an_address_may_need_the_network(place: str) -> None:
    assert address(f"tool get '{place}' --now") == f"it needs {place}"
    assert address("tool get example.txt") is None


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ("npm install", "it does not call tool"),
        ("mkdir demo && cd demo", None),
        ("cp x ~/.local/bin/tool-x", "it installs into ~/.local/bin, which is not on PATH here"),
        ("cp x ~/.config/tool", None),
    ],
)
def test_only_lines_that_prepare_files_are_run_besides_calls(line: str, reason: str | None) -> None:
    example, _ = block(line, "tool list")
    assert foreign(example, "tool") == reason


def test_a_file_that_nobody_made_is_missing(tmp_path: Path) -> None:
    (tmp_path / "here.csv").touch()
    missing = {
        line: missing_file(block(line)[0], tmp_path, made=["tool export later.csv"])
        for line in (
            "tool here.csv",
            "tool gone.csv",
            "tool < gone.json",
            "tool later.csv",
            "tool x -o new.csv",
            "tool a.b",
        )
    }
    assert missing == {
        "tool here.csv": None,
        "tool gone.csv": "gone.csv is not in the workspace",
        "tool < gone.json": "gone.json is not in the workspace",
        "tool later.csv": None,
        "tool x -o new.csv": None,
        "tool a.b": None,
    }


def test_help_text_in_a_shell_fence_is_no_session() -> None:
    found = block("tool - a small tool", "", "Usage: tool <command>", "  create [title]   Create")
    assert [(line.text, line.unfit) for line in found][:1] == [
        ("tool - a small tool", "its block is help text, not an example")
    ]
    assert all(line.unfit for line in found)


def test_prose_in_a_fence_without_a_language_is_no_command() -> None:
    found = block("This project has a tool. Run it.", "tool list", language="")
    assert [line.unfit for line in found] == ["its block has no language, and not all of its lines are commands"]
    assert [line.unfit for line in block("echo a > x.txt", "tool list", language="")] == [None, None]


@pytest.mark.parametrize("sign", ["$", "%", "▶", "❯", "me@host:~/x$"])  # noqa: RUF001
def test_the_rows_below_a_typed_line_are_no_commands(sign: str) -> None:
    found = block(f"{sign} tool list \\", "    --all", "buy milk", "walk", f"{sign} tool add x", language="")
    assert [line.text for line in found] == ["tool list --all", "tool add x"]


def test_a_block_with_lines_about_other_programs_is_a_longer_procedure() -> None:
    migration = block("tool migrate", "old list", "git rm -rf .old")
    assert unfinished(migration, "tool") == "its block also needs `old`"
    assert unfinished(block("tool list", "curl x | tool get", "cat notes.txt"), "tool") is None
