"""What the exit code of a whole shell command tells about the calls in it."""

from __future__ import annotations

import pytest

from tidegate.agents.invocations.shell_grammar import shell_lines


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
