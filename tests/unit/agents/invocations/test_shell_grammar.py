"""Which calls a shell command makes, and what its exit code tells about them."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tidegate.agents.invocations.shell_grammar import shell_lines


def texts(text: str) -> list[str]:
    return [line.text for line in shell_lines(text, "tool")]


def calls(text: str) -> list[tuple[str, ...]]:
    return [call.argv for line in shell_lines(text, "tool") for call in line.calls]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("tool add a", [("add", "a")]),
        ("  FOO=1 BAR=2 tool add 'a b' \"c\"", [("add", "a b", "c")]),
        ("cd x && tool a || tool b; tool c | head -1 & tool d", [("a",), ("b",), ("c",), ("d",)]),
        ("./tool a\n/opt/x/tool b\n../bin/tool c", [("a",), ("b",), ("c",)]),
        ('id=$(tool a)\necho "`tool b` $(tool c)"\ndiff <(tool d) x', [("a",), ("b",), ("c",), ("d",)]),
        (
            "sudo -u me tool a\nenv A=1 tool b\nls | xargs -n1 tool c\ntime tool d\ntimeout 5 tool e",
            [(x,) for x in "abcde"],
        ),
        ('bash -c \'tool a; tool b\' x\nsudo sh -ec "tool c \\"d e\\""', [("a",), ("b",), ("c", "d e")]),
        ("bash tool\nsh -c 'echo tool'\necho bash -c 'tool a'\nbash -c", []),
        ("! tool a\n(tool b)\n{ tool c; }\nif tool d; then tool e; fi", [(x,) for x in "abcde"]),
        ("for i in 1 2; do\n  tool a\ndone < f", [("a",)]),
        ("[ -f x ] && tool a", [("a",)]),
        ("tool a > out 2>&1 < in", [("a",)]),
        ("tool-x a\nmytool a\necho tool a\ncat tool\n# tool a\necho 'tool a'\ntool.py a", []),
        ("cat <<EOF\ntool a\nEOF", []),
        ("sudo apt install x", []),
    ],
)
def test_calls_are_what_stands_in_command_position(text: str, expected: list[tuple[str, ...]]) -> None:
    assert calls(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("tool a\n\n# note\n  tool b # why it's so\n", ["tool a", "tool b"]),
        ("tool a; tool b", ["tool a; tool b"]),
        ("tool a \\\n    --b \\\n  c\ntool d", ["tool a --b c", "tool d"]),
        ("tool add 'two\nrows'\ntool b", ["tool add 'two\nrows'", "tool b"]),
        ("tool add 'kept \\\nas it is'", ["tool add 'kept \\\nas it is'"]),
        ("tool a |\n  head\ntool b &&\n  tool c", ["tool a |\n  head", "tool b &&\n  tool c"]),
        ("for i in 1 2\ndo\n  tool $i\ndone\ntool b", ["for i in 1 2\ndo\n  tool $i\ndone", "tool b"]),
        ("cat > f <<'EOF'\nit's <id> \\\n$x\nEOF\ntool b", ["cat > f <<'EOF'\nit's <id> \\\n$x\nEOF", "tool b"]),
        ("cat <<EOF | tool import\nx\nEOF\ntool b", ["cat <<EOF | tool import\nx\nEOF", "tool b"]),
        ('tool add "naïve – ✓"\ntool b', ['tool add "naïve – ✓"', "tool b"]),
        ("", []),
        ("# only this", []),
    ],
)
def test_a_line_is_a_whole_command(text: str, expected: list[str]) -> None:
    lines = shell_lines(text, "tool")
    assert [line.text for line in lines] == expected
    assert [line.unfit for line in lines] == [None] * len(lines)


def test_rows_are_where_the_lines_start() -> None:
    text = "# note\ntool a \\\n  b\n\ntool c\ncat <<EOF\nx\nEOF\ntool d"
    assert [line.row for line in shell_lines(text, "tool")] == [1, 4, 5, 8]


@pytest.mark.parametrize(
    "text",
    [
        "tool show <id>",
        "tool show <task-id> --verbose",
        "tool show <task id>",
        "tool add <TITLE> <due...>",
        "tool get <name>.json",
        "tool get tasks/<id>/x",
        "echo $(tool show <id>)",
        'echo "$(tool show <id>)"',
        "tool add …",
        "tool add '…'",
        "tool add ...",
        'tool add "..."',
        "tool add [...]",
        "tool login YOUR_TOKEN",
        'tool login --key "YOUR-API-KEY"',
    ],
)
def test_a_placeholder_makes_a_line_unfit_and_the_next_stays_fit(text: str) -> None:
    first, second = shell_lines(f"{text}\ntool list", "tool")
    assert (first.text, first.unfit) == (text, "it holds a placeholder")
    assert (second.text, second.unfit) == ("tool list", None)


@pytest.mark.parametrize(
    "text",
    [
        'tool add "<b>bold</b>"',
        "tool add '<id>'",
        "tool import < tasks.txt > out.txt",
        "tool import <tasks.txt >out.txt",
        "tool import <<EOF > out.txt\n<id> … ...\nEOF",
        "diff <(tool a) <(tool b)",
        "tool test ./...",
        'tool add "Thinking…"',
        'tool add "and so on..."',
        "tool add a  # <id> …",
        "tool add your_name",
    ],
)
def test_what_only_looks_like_a_placeholder_is_fit(text: str) -> None:
    assert {line.unfit for line in shell_lines(text, "tool")} == {None}


@pytest.mark.parametrize(
    "text",
    [
        "tool add 'open",
        "for i in 1 2; do\n  tool a",
        "tool a )",
        "tool x <<EOF\nno end",
        "It's prose\ntool a",
        "tool x <<EOF> out\nx\nEOF",
    ],
)
def test_what_is_no_complete_command_is_unfit_but_known_to_call(text: str) -> None:
    (line, *_) = [line for line in shell_lines(text, "tool") if line.unfit]
    assert line.unfit == "it is not a complete shell command"
    assert line.calls


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("cd x", ("cd x",)),
        ("mkdir x && cd x && tool init", ("cd x",)),
        ("export A=1 B=2; C=3", ("export A=1 B=2", "C=3")),
        (". venv/bin/activate", (". venv/bin/activate",)),
        ("unset A", ("unset A",)),
        ("(cd x && tool a)", ()),
        ("cd x | tool a", ()),
        ("A=1 tool a", ()),
        ("A=$(tool a)", ()),
        ("export A=$(tool a)", ()),
        ("echo $(cd x)", ()),
    ],
)
def test_state_is_what_outlives_the_line(text: str, expected: tuple[str, ...]) -> None:
    (line,) = shell_lines(text, "tool")
    assert line.state == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [("ID=$(tool a)  # new", "ID"), ("ID=$(date)", None), ("ID=$(tool a); tool b", None), ("ID=1 tool a", None)],
)
def test_variable_is_the_one_that_keeps_the_targets_answer(text: str, expected: str | None) -> None:
    (line,) = shell_lines(text, "tool")
    assert line.variable == expected


def test_a_target_may_be_named_by_its_path() -> None:
    (line,) = shell_lines("tool a", "./bin/tool")
    assert line.calls


@pytest.mark.parametrize(
    "text", ["(" * 5000, "tool $(" * 5000, "tool && " * 5000, "<a>" * 5000, "'" * 4999, "{ " * 5000]
)
def test_hostile_nesting_is_read_without_an_exception(text: str) -> None:
    assert len(shell_lines(text, "tool")) <= 1


@given(st.text(alphabet="tool add<>$(){}[]|&;'\"`\\\n#=é…"))
def test_any_text_can_be_read_and_lines_come_in_order(text: str) -> None:
    rows = [line.row for line in shell_lines(text, "tool")]
    assert rows == sorted(set(rows))


@given(
    st.lists(st.sampled_from(["tool a", "echo 'x y'", "cd x && tool b", "for i in 1; do\ntool c\ndone"]), max_size=6)
)
def test_lines_are_the_commands_that_were_put_together(commands: list[str]) -> None:
    assert texts("\n".join(commands)) == commands


# --- what the exit code of a whole command tells about the calls in it


def ends(text: str, code: int | None) -> list[str]:
    """Return each call of the text with its status and exit code."""
    lines = shell_lines(text, "tool")
    pairs = [pair for line in lines for pair in zip(line.calls, line.tells, strict=True)]
    return [" ".join(map(str, (*call.argv, *tells.status(code)))) for call, tells in pairs]


@pytest.mark.parametrize(
    ("text", "zero", "two"),
    [
        ("tool a", ["a ok 0"], ["a error 2"]),
        ("tool a > out 2>&1", ["a ok 0"], ["a error 2"]),
        ("X=1 tool a", ["a ok 0"], ["a error 2"]),
        ("cd d && tool a", ["a ok 0"], ["a unknown None"]),  # cd may have failed
        ("tool a && tool b", ["a ok 0", "b ok 0"], ["a unknown None", "b unknown None"]),
        ("tool a; tool b", ["a unknown None", "b ok 0"], ["a unknown None", "b error 2"]),
        ("tool a\ntool b", ["a unknown None", "b ok 0"], ["a unknown None", "b error 2"]),
        ("set -e; tool a; tool b", ["a unknown None", "b ok 0"], ["a unknown None", "b unknown None"]),
        ("tool a || true", ["a unknown None"], ["a error None"]),  # masked
        ("x || tool a", ["a unknown None"], ["a error 2"]),
        ("tool a | head -1", ["a unknown None"], ["a unknown None"]),
        ("cat x | tool a", ["a ok 0"], ["a error 2"]),
        ("x && tool a | y", ["a unknown None"], ["a unknown None"]),
        ("! tool a", ["a unknown None"], ["a unknown None"]),
        ("tool a &", ["a unknown None"], ["a unknown None"]),
        ("(cd d; tool a)", ["a ok 0"], ["a error 2"]),
        ("if tool a; then x; fi", ["a unknown None"], ["a unknown None"]),
        ("for i in 1 2; do tool a; done", ["a unknown None"], ["a unknown None"]),
        ("echo $(tool a)", ["a unknown None"], ["a unknown None"]),
        ("bash -c 'cd d && tool a'", ["a ok 0"], ["a unknown None"]),
        ("bash -c 'tool a' | head", ["a unknown None"], ["a unknown None"]),
        ("sudo tool a", ["a ok 0"], ["a error 2"]),
    ],
)
def test_the_exit_code_belongs_to_the_call_that_the_shell_s_rules_name(
    text: str, zero: list[str], two: list[str]
) -> None:
    assert ends(text, 0) == zero
    assert ends(text, 2) == two


def test_without_an_exit_code_nothing_is_known() -> None:
    assert ends("tool a", None) == ["a unknown None"]
