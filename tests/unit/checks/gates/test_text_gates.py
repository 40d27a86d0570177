"""The gates that look for a text, words or a pattern, in the output of a command or in a file."""

from __future__ import annotations

from typing import Any

import pytest
from pydantic import TypeAdapter, ValidationError

from tests.unit.checks.gates.seen import file, sees
from tidegate.checks.gates import AnyGate
from tidegate.checks.gates.text_gates import CommandOutputWords
from tidegate.model.gate import Gate, GateDecision

GATE: TypeAdapter[Gate] = TypeAdapter(AnyGate)


def gate(kind: str, **fields: Any) -> Gate:
    where = {"path": "notes.md"} if kind.startswith("file") else {"command": "taskmgr list"}
    return GATE.validate_python({"type": kind, **where, **fields})


CONTAINS = {"substring": "milk"}
MATCHES = {"pattern": r"#\d+ milk"}
LOOKAHEADS = {"pattern": "(?s)^(?=.*--all)(?=.*--one)"}
WORDS = {"words": ["--prio", "add"]}


@pytest.mark.parametrize(
    ("kind", "fields", "text", "message"),
    [
        ("contains", CONTAINS, "buy\nmilk\n", "contains `milk`"),
        ("matches", MATCHES, "\nsee #12 milk!", r"matches `#\d+ milk`: `#12 milk`"),
        ("matches", LOOKAHEADS, "--one --all", "matches `(?s)^(?=.*--all)(?=.*--one)`"),
    ],
)
def test_a_text_that_is_found_passes(kind: str, fields: dict[str, Any], text: str, message: str) -> None:
    printed = gate(f"command_output_{kind}", **fields).decide(sees(stdout=text))
    assert printed == GateDecision(passed=True, message=f"the output {message}")
    written = gate(f"file_{kind}", **fields).decide(file(text=text))
    assert written == GateDecision(passed=True, message=f"`notes.md` {message}")


@pytest.mark.parametrize(
    ("kind", "fields", "text", "message"),
    [
        ("contains", CONTAINS, "buy\nbread", "does not contain `milk`: `buy bread`"),
        ("contains", CONTAINS, "", "does not contain `milk`: it is empty"),
        ("matches", MATCHES, "#x milk", r"does not match `#\d+ milk`: `#x milk`"),
    ],
)
def test_a_text_that_is_not_found_fails_with_an_excerpt(
    kind: str, fields: dict[str, Any], text: str, message: str
) -> None:
    printed = gate(f"command_output_{kind}", **fields).decide(sees(stdout=text, stderr="milk #1 milk"))
    assert printed == GateDecision(passed=False, message=f"the output {message}")
    written = gate(f"file_{kind}", **fields).decide(file(text=text))
    assert written == GateDecision(passed=False, message=f"`notes.md` {message}")


@pytest.mark.parametrize("state", ["missing", "escapes", "not_a_file", "too_large", "unreadable"])
@pytest.mark.parametrize("kind", ["contains", "matches"])
def test_a_file_without_a_text_fails(kind: str, state: str) -> None:
    assert not gate(f"file_{kind}", **(CONTAINS if kind == "contains" else MATCHES)).decide(file(state=state)).passed


@pytest.mark.parametrize(
    ("kind", "fields", "text"),
    [
        ("contains", CONTAINS, "milk"),
        ("matches", {"pattern": r"(?s)\A(?!.*error)"}, "well"),
        ("words", WORDS, "add --prio"),
    ],
)
def test_of_a_failed_command_or_a_cut_output_nothing_is_decided(kind: str, fields: dict[str, Any], text: str) -> None:
    """What was cut off could hold the word that a pattern forbids."""
    one = gate(f"command_output_{kind}", **fields)
    assert one.decide(sees(stdout=text)).passed
    assert one.decide(sees(stdout=text, exit_code=4)) == GateDecision(passed=False, message=f"exit 4: {text}")
    cut = one.decide(sees(stdout=text, truncated=True))
    assert (cut.passed, "the output was cut" in cut.message) == (False, True)


@pytest.mark.parametrize(
    "printed",
    [
        "add --priority",
        "add x--prio",
        "add --prio-high",
        "add --prio.level",
        "add --prio:level",
        "add --prio[rity]",
        "add --prio\u200b",
        "add \u200b--prio",
        *(f"add --prio{one}rity" for one in "\u2066\u202e\ufe0f\u061c\u180e\ufff9\b\x1c\x7f\U000e0064"),
        "add --prio\x1b[8mrity",
        "add --prio\u2011rity",
    ],
)
def test_words_that_are_missing_as_a_whole_are_named(printed: str) -> None:
    words = gate("command_output_words", **WORDS)
    assert (
        words.decide(sees(stdout="add:   Adds a task\n[--prio[=P]] See --prio.")).message
        == "the output has all 2 words"
    )
    missing = GateDecision(passed=False, message="the output lacks `--prio`", missing=("--prio",))
    assert words.decide(sees(stdout=printed)) == missing


@pytest.mark.parametrize(
    ("printed", "has"), [("total 15", True), ("14,15,16", True), ("15.", True), ("15,000", False), ("0.15", False)]
)
def test_a_number_is_no_part_of_another_one(printed: str, has: bool) -> None:
    assert CommandOutputWords(command="x", words=("15",)).decide(sees(stdout=printed)).passed == has


@pytest.mark.parametrize(
    ("word", "printed"),
    [
        ("150", "2,150"),
        ("15", "15'000"),
        ("15", "15\u202f000"),
        ("15", "1/15"),
        ("list", "list\u2013all"),
        ("milk", "oat.milk"),
    ],
)
def test_a_word_is_no_part_of_another_one(word: str, printed: str) -> None:
    decided = [
        CommandOutputWords(command="x", words=(word,)).decide(sees(stdout=one)) for one in (printed, f"a {word}.")
    ]
    assert [one.passed for one in decided] == [False, True]


@pytest.mark.parametrize(
    ("printed", "has"),
    [
        ("  --due DATE  When", True),
        ("--due=DATE", True),
        ("  -d, --due DATE", True),
        ("  -d DATE, --due DATE", True),
        ("  -d|--due", True),
        ("  -until  --due DATE", True),
        ("  --no-due / --due", True),
        ("  --end E  As with --due", False),
        ("usage: t [--due DATE]", False),
        ("  --due-by DATE", False),
        ("  \x1b[1m--due\x1b[0m DATE", True),
        ("  Formerly, --due was an option", False),
        ("  gone / --due", False),
        ("  no|--due", False),
    ],
)
def test_a_listed_word_begins_a_line(printed: str, has: bool) -> None:
    decision = CommandOutputWords(command="x", words=("--due",), listed=True).decide(sees(stdout=printed))
    message = "the output lists the word" if has else "the output does not list `--due`"
    assert (decision.passed, decision.message, decision.missing) == (has, message, () if has else ("--due",))


def test_of_many_missing_words_the_first_are_named_and_the_rest_counted() -> None:
    words = CommandOutputWords(command="x", words=tuple(f"-{letter}" for letter in "abcdefghijk"))
    assert words.decide(sees()).message.endswith("`-g`, `-h` and 3 more")


@pytest.mark.parametrize(
    ("kind", "fields", "message"),
    [
        ("command_output_contains", {"substring": ""}, "must not be empty"),
        ("file_contains", {"substring": ""}, "must not be empty"),
        ("command_output_words", {"words": []}, "at least 1 item"),
        ("command_output_matches", {"pattern": ""}, "must not be empty"),
        ("command_output_matches", {"pattern": "a["}, "unterminated character set at position 1"),
        ("command_output_matches", {"pattern": "a{99999999999999999999}"}, "too large"),
        ("file_matches", {"pattern": "ab(c"}, r"missing \), unterminated subpattern at position 2"),
    ],
)
def test_what_could_not_fail_or_is_no_pattern_is_refused(kind: str, fields: dict[str, Any], message: str) -> None:
    with pytest.raises(ValidationError, match=message):
        gate(kind, **fields)


@pytest.mark.parametrize(
    ("kind", "fields", "label"),
    [
        ("file_contains", CONTAINS, 'notes.md must contain "milk"'),
        ("file_matches", MATCHES, r"notes.md must match #\d+ milk"),
        ("command_output_contains", CONTAINS, 'taskmgr list must print "milk"'),
        ("command_output_matches", MATCHES, r"taskmgr list must print a match of #\d+ milk"),
        ("command_output_words", WORDS, "taskmgr list must print --prio, add"),
        ("command_json_path", {"path": "$", "assertion": "exists"}, "taskmgr list must print JSON with $ exists"),
    ],
)
def test_gates_on_one_command_or_file_have_names_of_their_own(kind: str, fields: dict[str, Any], label: str) -> None:
    assert gate(kind, **fields).label == f"{kind}: {label}"
