"""Calls in the text of an agent that reports its calls in no other way."""

from __future__ import annotations

from tidegate.agents.invocations.from_log import logged_invocations, printed_invocations
from tidegate.model.event import End, Event, Message, ToolCall, ToolResult
from tidegate.model.target import Target

PATTERN = r"^\s*tool\s+(\S+)"


def seen(text: str, pattern: str | None = None) -> list[str]:
    target = Target(binary="tool", command_pattern=pattern)
    found = printed_invocations([Message(text=text, at=1.0)], target, 100.0)
    assert all((call.source, call.started_at) == ("transcript", 101.0) for call in found)
    return [" ".join(map(str, (*call.argv, call.status, call.exit_code))) for call in found]


def test_lines_with_a_prompt_sign_are_calls_with_their_explicit_exit_codes() -> None:
    text = "I add it.\n$ tool add x\nno list\nexit code 2\n$ tool add 'a b'\nadded\nexit status: 0\n"
    assert seen(text) == ["add x error 2", "add a b ok 0"]
    assert seen("user@host:~/w$ tool list\n[exit 0]\n+ tool show\nProcess exited with code 1\n") == [
        "list ok 0",
        "show error 1",
    ]


def test_an_exit_code_never_belongs_to_an_earlier_call() -> None:
    assert seen("$ tool add x\nadded\n$ ls\nexit code 1\n") == ["add x unknown None"]


def test_an_error_in_the_text_is_no_exit_code() -> None:
    assert seen("$ tool add 'Fix error handling'\nError: failed\n") == ["add Fix error handling unknown None"]


def test_compound_lines_follow_the_shell_s_rules() -> None:
    assert seen("$ cd w && ./tool add x | head -1\nexit code 0\n") == ["add x unknown None"]
    assert seen("$ tool a && tool b\nexit code 0\n") == ["a ok 0", "b ok 0"]


def test_a_mention_in_prose_is_no_call() -> None:
    assert seen("tool is easy to use. It costs $ 5 a year.\nThe tool add command adds.\n", PATTERN) == []
    assert seen("tool add x\nit will end with exit code 1\n") == []


def test_a_bare_line_counts_with_a_command_pattern_and_an_exit_code() -> None:
    assert seen("  tool add x\nno list\nexit code: 1\n", PATTERN) == ["add x error 1"]


def test_colours_of_a_terminal_are_ignored() -> None:
    assert seen("\x1b[1m$\x1b[0m tool list\x1b[0m\r\nexit code 0\n") == ["list ok 0"]


def logged(*events: Event) -> list[str] | None:
    found = logged_invocations(events, Target(binary="tool"), 100.0)
    return None if found is None else [f"{call.argv[0]} {call.source} {call.status}" for call in found]


def test_without_a_recorder_all_calls_of_a_log_count() -> None:
    """Also bare names in compound lines, which are not counted beside a recorder."""
    command = ToolCall(id="1", tool="bash", command="cd x && tool add a | head; tool list")
    assert logged(command, ToolResult(id="1", status="ok", exit_code=0)) == ["add events unknown", "list events ok"]


def test_printed_text_is_read_only_if_the_log_has_no_calls() -> None:
    printed = Message(text="$ tool add x\nexit code 1\n")
    assert logged(printed, End(end="completed", traced=False)) == ["add transcript error"]
    assert logged(printed, End(end="completed")) == []


def test_a_log_that_shows_no_call_says_nothing_about_their_number() -> None:
    assert logged(Message(text="Done."), End(end="completed", traced=False)) is None
