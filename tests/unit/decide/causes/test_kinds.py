"""Causes by what tools of many kinds print; tests/thorough/test_causes.py has one of each kind with real processes."""

from __future__ import annotations

import re
from typing import Literal

import pytest

from tests.make import row, trial_result
from tidegate.decide.causes.diff_lines import edits_of, renamed, replacement
from tidegate.decide.causes.find import find_causes
from tidegate.model.comparison import Divergence, Evidence, LeftFile
from tidegate.model.event import CallStatus
from tidegate.model.measurement import Call, GateResult, Metrics, TrialResult
from tidegate.model.result import FileChange
from tidegate.model.surface import Interface, Part
from tidegate.reports.cause_text import says

Told = tuple[str, CallStatus, str]
ADD = "tool add --priority high x"
HELP: Told = ("tool add --help", "ok", "")


def trial(side: Literal["base", "head"], *calls: Told, index: int = 1, seconds: float = 0.1) -> TrialResult:
    return trial_result(
        side=side,
        index=index,
        outcome="pass" if side == "base" else "fail",
        decides="pass" if side == "base" else "fail",
        metrics=Metrics(),
        calls=tuple(
            Call(
                command=command,
                status=status,
                message=message,
                exit_code={"ok": 0, "error": 2}.get(status),
                duration_s=seconds,
            )
            for command, status, message in calls
        ),
    )


def kinds(base: list[TrialResult], head: list[TrialResult], changes: tuple[FileChange, ...] = ()) -> list[str]:
    return [says(cause) for cause in find_causes([row("regressed")], [*base, *head], changes)]


def after(message: str, command: str = ADD, status: CallStatus = "error") -> list[str]:
    """The causes where the tool took the command on base and says this on head."""
    return kinds([trial("base", (command, "ok", ""))], [trial("head", (command, status, message), HELP)])


@pytest.mark.parametrize(
    "message",
    [
        "usage: tool add [--prio P] title\ntool: error: unrecognized arguments: --priority high",
        "Error: No such option: --priority Did you mean --prio?",
        "error: unexpected argument '--priority' found",
        "unknown flag: --priority",
        "flag provided but not defined: --priority",
        "tool: unrecognized option '--priority'",
        "error: unknown option '--priority'",
    ],
)
def test_an_option_that_is_refused(message: str) -> None:
    assert after(message) == ["`tool add` no longer accepts `--priority`"]


def test_an_option_is_refused_by_a_tool_that_never_exits_with_0() -> None:
    """Linters exit with 1 or 3 if they find something, and with 2 if they are called wrongly."""
    found = trial("base", ("lint --deep x.py", "error", "x.py:1: unexpected indent"))
    found = found.model_copy(update={"calls": (found.calls[0].model_copy(update={"exit_code": 3}),)})
    refused = trial("head", ("lint --deep x.py", "error", "lint: error: unrecognized arguments: --deep"))
    assert kinds([found], [refused]) == ["`lint` no longer accepts `--deep`"]


@pytest.mark.parametrize(
    ("command", "message", "says"),
    [
        (
            "termgraph --start-dt 2017-07-01 data/cal.dat",
            "termgraph: error: unrecognized arguments: --start-dt 2017-07-01",
            "`termgraph` no longer accepts `--start-dt`",
        ),
        ("strip-tags -r nav", "Error: No such option '-r'.", "`strip-tags` no longer accepts `-r`"),
        ("strip-tags .content -r nav", "Error: No such option '-r'.", "`strip-tags` no longer accepts `-r`"),
        (
            "strip-tags nav -r p",
            "Usage: strip-tags [OPTIONS] [SELECTORS]...\nError: No such option '-r'.",
            "`strip-tags` no longer accepts `-r`",
        ),
        (
            "notes add --tag work",
            "usage: notes [-h] {add,show} ...\nnotes: error: unrecognized arguments: --tag work",
            "`notes add` no longer accepts `--tag`",
        ),
        (
            "tool --color red data.csv",
            "tool: error: argument --color: invalid choice: 'red' (choose from 'blue')",
            "`tool` no longer accepts the value `red`",
        ),
        (
            "tool --color red",
            "unknown color 'red'",
            "`tool --color red` now exits with status 2 (was 0): `unknown color 'red'`",
        ),
        ("tool pr add", 'unknown command "add" for "tool pr"', "`tool pr` no longer has the command `add`"),
        ("tool --quiet add", "Error: No such command 'add'.", "`tool` no longer has the command `add`"),
    ],
)
def test_the_value_of_an_option_and_an_operand_are_not_taken_for_a_subcommand(
    command: str, message: str, says: str
) -> None:
    assert after(message, command) == [says]


@pytest.mark.parametrize(
    "message",
    [
        "tool: error: argument command: invalid choice: 'add' (choose from 'new', 'list')",
        "Error: No such command 'add'.",
        'Error: unknown command "add" for "tool"',
        "error: unrecognized subcommand 'add'",
        "tool: 'add' is not a tool command. See 'tool --help'.",
    ],
)
def test_a_subcommand_that_is_gone(message: str) -> None:
    assert after(message) == ["`tool` no longer has the command `add`"]


@pytest.mark.parametrize(
    "message",
    [
        "tool add: error: argument --priority: invalid choice: 'high' (choose from 'urgent', 'normal')",
        "Error: Invalid value for '--priority': 'high' is not one of 'urgent', 'normal'.",
        "error: invalid value 'high' for '--priority <P>'",
        'Error: invalid argument "high" for "--priority" flag',
    ],
)
def test_a_value_that_is_refused(message: str) -> None:
    assert after(message) == ["`tool add` no longer accepts the value `high`"]


@pytest.mark.parametrize(
    ("message", "name"),
    [
        ("tool add: error: the following arguments are required: --due", "--due"),
        ("Error: Missing option '--due'.", "--due"),
        ("Error: Missing argument 'OWNER'.", "OWNER"),
        ('Error: required flag(s) "--due" not set', "--due"),
    ],
)
def test_an_argument_that_is_new_and_required(message: str, name: str) -> None:
    assert after(message) == [f"`tool add` now requires `{name}`"]


@pytest.mark.parametrize(
    "message",
    [
        "TypeError: unsupported operand type(s) for +: 'int' and 'str'",
        "json.decoder.JSONDecodeError: Expecting value: line 1 column 1 (char 0)",
        "loading tasks.csv AssertionError",
        "panic: runtime error: index out of range [3] with length 2",
        "thread 'main' panicked at src/main.rs:2:5: no file",
    ],
)
def test_a_call_that_crashes(message: str) -> None:
    (says,) = after(message)
    assert says.startswith(f"`{ADD}` crashes: `")


def test_the_last_line_of_a_usage_is_no_reason() -> None:
    (says,) = after("Usage:\n  tool add TITLE\n\nSee also:\n  https://tool.example -- the tool")
    assert says == f"`{ADD}` now exits with status 2 (was 0): `Usage:`"


@pytest.mark.parametrize("message", ["tool: error: ApiError: 404", "Error: no title", ""])
def test_an_error_that_the_tool_reports_is_no_crash(message: str) -> None:
    (says,) = after(message)
    assert says.startswith(f"`{ADD}` now exits with status 2 (was 0)")


@pytest.mark.parametrize("question", ["Delete all? [y/N]", "Password:", "Are you sure (yes/no)", "Overwrite? (y/n)"])
@pytest.mark.parametrize("status", ["error", "timeout"])
def test_a_prompt_for_input_is_neither_an_exit_code_nor_a_hang(question: str, status: CallStatus) -> None:
    (says,) = after(f"{question} Aborted!", status=status)
    assert says.startswith(f"`{ADD}` now waits for input: `{question}")


def test_a_call_that_base_never_made_is_no_cause() -> None:
    """The agent wrote the option wrong; base's agent did not."""
    assert (
        kinds([trial("base", ("tool list", "ok", ""))], [trial("head", (ADD, "error", "unknown flag: --prio"))]) == []
    )


def test_what_only_some_failed_trials_show_is_no_cause() -> None:
    head = [trial("head", (ADD, "error", "no network")), trial("head", (ADD, "ok", ""), index=2)]
    assert kinds([trial("base", (ADD, "ok", ""))], head) == []


def test_what_fails_on_base_too_is_no_cause() -> None:
    failing: Told = (ADD, "error", "unknown flag: --priority")
    assert kinds([trial("base", failing)], [trial("head", failing)]) == []


def test_generated_ids_and_times_are_no_difference() -> None:
    def calls(word: str, seconds: str) -> tuple[Told, ...]:
        made: Told = ("tool new", "ok", f"created wor-{word} in {seconds}s")
        return made, (f"tool dep wor-{word}", "ok", f"wor-{word} at /tmp/x{word}/y on localhost:4{seconds[0]}21")

    base = [trial("base", *calls("shwg", "0.31")), trial("base", *calls("9x2k", "0.52"), index=2)]
    head = [trial("head", *calls("abcd", "1.31")), trial("head", *calls("efgh", "2.31"), index=2)]
    assert kinds(base, head) == []


def test_a_json_key_that_is_gone_is_told_from_one_whose_output_was_cut() -> None:
    base = [trial("base", ("tool list --json", "ok", '{"id": 1, "owner": "x"}'))]
    gone = [trial("head", ("tool list --json", "ok", '{"id": 1, "user": "x"}'))]
    cut = [trial("head", ("tool list --json", "ok", '{"id": 1, "na…'))]
    assert kinds(base, gone) == ["the JSON of `tool list --json` has the key `user` instead of `owner`"]
    assert not any("key" in says for says in kinds(base, cut))


@pytest.mark.parametrize(("full", "empty"), [('[{"id": 1}]', "[]"), ('{"tasks": [{"id": 1}]}', '{"tasks": []}')])
def test_a_list_that_is_empty_on_head_lacks_no_key(full: str, empty: str) -> None:
    said = kinds([trial("base", ("tool list", "ok", full))], [trial("head", ("tool list", "ok", empty))])
    assert said == [f"`tool list` prints `{empty}` instead of `{full}`"]


def test_another_message_of_a_call_that_fails_alike() -> None:
    base = [trial("base", ("tool rm 9", "error", "no task 9; try `tool list`"))]
    head = [trial("head", ("tool rm 9", "error", "failed"))]
    assert kinds(base, head) == ["`tool rm 9` prints `failed` instead of `no task 9; try 'tool list'`"]


def test_a_call_that_takes_several_times_as_long() -> None:
    base = [trial("base", (ADD, "ok", ""), index=number, seconds=0.9 + number / 10) for number in (1, 2)]
    head = [trial("head", (ADD, "ok", ""), index=number, seconds=4.0) for number in (1, 2)]
    assert kinds(base, head) == [f"`{ADD}` is 4× slower: 1.1 s on base, 4.0 s on head"]
    assert kinds(base[:1], head[:1]) == [f"`{ADD}` is 4× slower: 1.0 s on base, 4.0 s on head"]
    assert kinds([trial("base", (ADD, "ok", ""), seconds=0.2)], [trial("head", (ADD, "ok", ""), seconds=1.8)]) == []
    less = [trial("head", (ADD, "ok", ""), seconds=1.9)]
    assert kinds(base[:1], less) == [], "one run of each side has to take three times as long, and two seconds more"


@pytest.mark.parametrize(
    ("seconds", "said"), [(3.0, []), (8.0, ["a trial is 10× slower: 0.8 s on base, 8.0 s on head"])]
)
def test_a_row_is_slower_from_five_seconds_more_since_one_trial_can_be_slow_by_chance(
    seconds: float, said: list[str]
) -> None:
    sides: tuple[tuple[Literal["base", "head"], float], ...] = (("base", 0.8), ("head", seconds))
    trials = [
        trial(side, ("tool ls", "ok", "")).model_copy(update={"metrics": Metrics(duration_s=took)})
        for side, took in sides
    ]
    assert [says(cause) for cause in find_causes([row("ok", deterministic=True)], trials)] == said


def test_the_changed_line_is_the_one_that_names_it_and_tests_come_last() -> None:
    diff = "@@ -3,2 +3,2 @@\n def f():\n-    add('--priority')\n+    add('--prio')\n"
    changes = (
        FileChange(path="tests/test_cli.py", role="watched", diff=diff),
        FileChange(path="README.md", role="watched", diff=diff),
        FileChange(path="tool/cli.py", role="watched", diff=f"--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+b\n{diff}"),
    )
    trials = [trial("base", (ADD, "ok", "")), trial("head", (ADD, "error", "unknown flag: --priority"))]
    (cause,) = find_causes([row("regressed")], trials, changes)
    (edit,) = cause.edits
    assert edit.removed
    assert edit.added
    assert (edit.removed.where, edit.added.text) == ("tool/cli.py:4", "add('--prio')")


def test_a_changed_line_of_code_is_named_before_a_comment() -> None:
    diff = "@@ -2,2 +2,2 @@\n-# t add --priority P\n+# t add --prio P\n x\n-if --priority\n+if --prio\n"
    changes = (FileChange(path="bin/t", role="watched", diff=diff),)
    trials = [trial("base", (ADD, "ok", "")), trial("head", (ADD, "error", "unknown flag: --priority"))]
    (cause,) = find_causes([row("regressed")], trials, changes)
    assert (cause.edits[0].removed and cause.edits[0].removed.where) == "bin/t:4"
    (cause,) = find_causes([row("regressed")], trials, (changes[0].model_copy(update={"diff": diff[:58]}),))
    assert (cause.edits[0].removed and cause.edits[0].removed.where) == "bin/t:2", "nothing else has it"


@pytest.mark.parametrize(
    ("option", "shown", "defined"),
    [
        ("--tables", '"      --tables   Enable tables\\n"', '{ 0, "tables", 84 },'),
        ("--tables", "$ t --tables", "tables: {"),
        ("--tables", "$ t --tables", "if (flags.tables) {"),
        ("--to-file", "t --to-file x", "if args.to_file:"),
        ("--tables", "--tables   draws tables", "-t | --tables=*)"),
        ("--tables", "t --tables x", ".option('-t, --tables <file>', 'draws tables')"),
        ("-B", '"usage: t [-B] [-d delim]"', 'getopt(argc, argv, "aBd:")'),
        ("-B", "usage: t [-B]", "case 'B':"),
    ],
)
def test_the_place_of_an_option_is_the_line_that_defines_it_and_not_its_help(
    option: str, shown: str, defined: str
) -> None:
    change = FileChange(path="t.c", role="watched", diff=f"@@ -3,2 +3,0 @@\n-{shown}\n x\n-{defined}\n")
    assert [edit.at and edit.at.line for edit in edits_of((option,), [change], 20)] == [5]


def test_a_name_with_special_characters_is_looked_for_as_it_is() -> None:
    change = FileChange(path="t.py", role="watched", diff="@@ -1 +1 @@\n-say('-a(b')\n+say('no')\n")
    assert [edit.at and edit.at.line for edit in edits_of(("-a(b",), [change], 20)] == [1]


def test_of_an_option_that_only_help_texts_name_all_lines_are_given() -> None:
    change = FileChange(path="t.c", role="watched", diff="@@ -3,2 +3,0 @@\n-t --tables x\n y\n-t --tables z\n")
    assert len(edits_of(("--tables",), [change], 20)) == 2


def test_the_successor_of_an_option_is_read_from_the_line_that_defines_it() -> None:
    diff = '@@ -3 +3 @@\n-{ 0, "tables", 84 },\n+{ 0, "pipe-tables", 84 },\n'
    edits = edits_of(("--tables",), [FileChange(path="t.c", role="watched", diff=diff)], 20)
    assert replacement("--tables", edits) == "--pipe-tables"


def test_the_successor_of_a_quoted_word_is_quoted() -> None:
    edits = edits_of(("link",), code('-command("link", link)\n+command("depend", link)\n'), 20)
    assert replacement("link", edits) == "depend"


@pytest.mark.parametrize(
    ("diff", "found"),
    [
        ('-open("a.txt")\n+open("b.txt")\n', {"a.txt": "b.txt"}),
        ("-if [ -n $MO_FALSE ]\n+if [ -n $MO_EMPTY ]\n", {"MO_FALSE": "MO_EMPTY"}),
        ("-f('a')\n+f('b')\n f(1)\n-g('a')\n+g('c')\n", {}),
        ("-f('a')\n+f('b')\n g(1)\n+g('a')\n", {}),
        ("-# 'a'\n+# 'b'\n", {}),
    ],
)
def test_a_name_that_code_replaces_everywhere_by_one_other_is_renamed(diff: str, found: dict[str, str]) -> None:
    assert renamed(code(diff)) == found


def of_help(side: Literal["base", "head"], message: str) -> TrialResult:
    """A trial whose gate looks for words in a help text that is too long to be recorded whole."""
    passed = not any(verb in message for verb in ("lacks", "does not list"))
    missing = tuple(re.findall("`([^`]+)`", message))
    gate = GateResult(type="command_output_words", label="the help", passed=passed, message=message, missing=missing)
    return trial(side, ("tool --help", "ok", "usage: …")).model_copy(update={"gates": (gate,)})


def test_words_that_a_check_misses_are_the_cause() -> None:
    diff = '@@ -1,3 +1,3 @@\n help(\n-  "--share-user  Share"\n+  "--unshare-user  Unshare"\n   "--args")\n'
    base = [of_help("base", "the output has all 2 words")]
    head = [of_help("head", "the output lacks `--share-user`")]
    (cause,) = find_causes([row("regressed")], base + head, (FileChange(path="tool.c", role="watched", diff=diff),))
    assert says(cause) == "the check `the help` no longer finds `--share-user`"
    assert cause.edits[0].removed
    assert cause.edits[0].removed.where == "tool.c:2"
    head = [of_help("head", "the output does not list `--share-user`")]
    assert kinds(base, head) == ["the check `the help` no longer finds `--share-user`"]
    many = [of_help("head", "the output lacks `-a`, `-b`, `-c`, `-d`")]
    assert kinds(base, many) == ["the check `the help` no longer finds `-a`, `-b`, `-c` and 1 more"]
    assert kinds([of_help("base", "the output lacks `-a`")], many) == [], "base misses words, too"


def test_the_lines_of_an_output_that_are_shown_differ() -> None:
    same = "an output in one line that begins with a great many words that are the same on both sides"
    told = {
        (same, f"{same} here"): "the same on both sides here` instead of `the same on both sides`",
        ("a\n  b", "a\n    b"): "prints `b` with other white space",
        ("a\nold", "new\na\nother"): "now prints `new` in addition",
        ("a\nb", "b\na"): "`b` instead of `a`",
    }
    for (before, after), shown in told.items():
        (says,) = kinds([trial("base", ("tool", "ok", before))], [trial("head", ("tool", "ok", after))])
        assert says.endswith(shown), says


def test_of_long_lines_what_differs_is_shown_and_the_printed_line_finds_the_changed_one() -> None:
    start = "an output in one line that begins with a great many words that are the same on both sides, "
    base = [trial("base", ("tool --help", "ok", f"{start}--safe  Suppress raw HTML"))]
    head = [trial("head", ("tool --help", "ok", f"{start}--unsafe  Render raw HTML"))]
    (says,) = kinds(base, head)
    assert "--unsafe" in says
    assert "--safe" in says
    short = [
        trial("base", ("tool --help", "ok", "--safe  Suppress raw HTML")),
        trial("head", ("tool --help", "ok", "--unsafe  Render raw HTML")),
    ]
    changes = tuple(
        FileChange(path=path, role="watched", diff=f"@@ -7 +7 @@\n-{before}\n+{after}\n")
        for path, before, after in (
            ("man/tool.3", "Suppress unsafe links", "Render unsafe links"),
            ("lib.c", "bool is_safe(x);", "bool unsafe(x);"),
            ("main.c", 'print("--safe  Suppress raw HTML");', 'print("--unsafe  Render raw HTML");'),
        )
    )
    (cause,) = find_causes([row("regressed")], short, changes)
    assert cause.edits[0].added
    assert cause.edits[0].added.where == "main.c:7"


@pytest.mark.parametrize("deep", ["[" * 100_000, '{"a":' * 100_000], ids=["lists", "objects"])
def test_json_of_any_depth_does_not_end_the_run(deep: str) -> None:
    """Of what a tool prints, and of what it is called with."""
    kinds([trial("base", ("tool list", "ok", '{"a": 1}'))], [trial("head", ("tool list", "ok", deep))])
    call = f"server add '{deep}'"
    kinds([trial("base", (call, "ok", ""))], [trial("head", (call, "error", "no"))])


def code(diff: str) -> tuple[FileChange, ...]:
    return (FileChange(path="tool.py", role="watched", diff=f"@@ -1 +1 @@\n{diff}"),)


def test_a_refused_word_is_a_value_only_if_the_message_or_the_diff_says_so() -> None:
    """It may be data: a key, or the name of a file that is not there."""
    base, head = (
        [trial("base", ("tool get red", "ok", ""))],
        [trial("head", ("tool get red", "error", "unknown 'red'"))],
    )
    assert kinds(base, head) == ["`tool get red` now exits with status 2 (was 0): `unknown 'red'`"]
    assert kinds(base, head, code('-    "red",\n')) == ["`tool get` no longer accepts the value `red`"]


@pytest.mark.parametrize(
    ("diff", "says"),
    [
        ("-case '--range':\n+case '--only':\n", "`tool` no longer accepts `--range`; `--only` is new"),
        ("-LEVELS = ['minor']\n+LEVELS = ['small']\n", "`tool` no longer accepts the value `minor`; `small` is new"),
        ("-case '--range':\n+case '--range', '--only':\n", "`tool --range 1 minor` now prints `2.0` in addition"),
        ("-# see --range and 'minor'\n", "`tool --range 1 minor` now prints `2.0` in addition"),
        ("-minor = 1\n", "`tool --range 1 minor` now prints `2.0` in addition"),
    ],
)
def test_what_the_code_dropped_is_named_where_no_message_refuses_it(diff: str, says: str) -> None:
    call = "tool --range 1 minor"
    assert kinds([trial("base", (call, "ok", ""))], [trial("head", (call, "ok", "2.0"))], code(diff)) == [says]


def test_a_file_that_differs_is_the_cause_although_the_same_call_prints_something_else() -> None:
    call = Call(command="tool next", status="ok", message="", exit_code=0)
    parting = Divergence(
        step=1, base="", head="", base_steps=(call,), head_steps=(call.model_copy(update={"message": "x"}),)
    )
    files = (LeftFile(path="next.txt", lines=("-1.5", "+1.4")),)
    evidence = Evidence(trial="t", gate="file", message="", divergence=parting, files=files)
    trials = [trial("base", ("tool next", "ok", "")), trial("head", ("tool next", "ok", ""))]
    (cause,) = find_causes([row("regressed", evidence=evidence)], trials)
    assert says(cause) == "`next.txt` has the line `1.4` instead of `1.5`"


def test_one_change_that_slows_two_rows_is_one_cause() -> None:
    rows = [row("ok", scenario=name) for name in ("one", "two")]
    sides: tuple[tuple[Literal["base", "head"], float], ...] = (("base", 0.2), ("head", 3.5))
    trials = [
        trial(side, (f"tool {one.scenario}", "ok", ""), seconds=seconds).model_copy(update={"scenario": one.scenario})
        for one in rows
        for side, seconds in sides
    ]
    (cause,) = find_causes(rows, trials, code("+    time.sleep(3)\n"))
    assert [key.scenario for key in cause.rows] == ["one", "two"]


def test_a_row_that_shows_a_second_place_of_a_change_has_its_cause() -> None:
    """One row prints the help, whose line is not the first that the option's cause points to."""
    changes = code("-case '--only':\n@@ -9 +8 @@\n--o --only\n")
    calls: dict[str, tuple[Told, Told]] = {
        "help": (("tool --help", "ok", "-o --only"), ("tool --help", "ok", "")),
        "usage": (("tool --only a", "ok", ""), ("tool --only a", "error", "unknown flag: --only")),
    }
    trials = [
        one.model_copy(update={"scenario": name})
        for name, (base, head) in calls.items()
        for one in (trial("base", base), trial("head", head))
    ]
    (cause,) = find_causes([row("regressed", scenario=name) for name in calls], trials, changes)
    assert says(cause) == "`tool` no longer accepts `--only`"
    assert [key.scenario for key in cause.rows] == ["help", "usage"]


def test_a_cause_without_a_changed_line_beside_one_with_a_line_is_another_cause() -> None:
    rows = [row("regressed", scenario=name) for name in ("hangs", "refused")]
    sides: dict[str, tuple[Told, Told]] = {
        "hangs": (("tool a", "ok", ""), ("tool a", "timeout", "")),
        "refused": (("tool --only b", "ok", ""), ("tool --only b", "error", "unknown flag: --only")),
    }
    trials = [
        one.model_copy(update={"scenario": name})
        for name, (base, head) in sides.items()
        for one in (trial("base", base), trial("head", head))
    ]
    changes = code("-case '--only':\n+case '--just':\n@@ -9 +9 @@\n-x\n+y\n")
    assert [cause.kind for cause in find_causes(rows, trials, changes)] == ["hang", "option"]


@pytest.mark.parametrize(
    ("wrote", "error"),
    [
        ("Error: HOME is not set / at file:///x.js:3:9 / Node.js v20.20.2", "Error: HOME is not set"),
        (
            'File "/x.py", line 3, in <module> / ModuleNotFoundError: No module named x',
            "ModuleNotFoundError: No module named x",
        ),
    ],
)
def test_of_what_a_server_wrote_before_it_ended_the_error_is_quoted(wrote: str, error: str) -> None:
    said = f"the MCP server `x` did not start: the server has ended: exit 1; it wrote: {wrote}"
    (cause,) = find_causes([row("regressed", kind="setup", evidence=Evidence(trial="t", message=said))], [])
    assert says(cause) == f"the start fails on head: `{error}`"


GONE = Part(kind="option", name="--tables")
LISTED = (Interface(tool="tool", gone=(GONE,)),)
DEFINED = '@@ -3 +3 @@\n-{ 0, "tables", 84 },\n+{ 0, "pipe-tables", 84 },\n'
OF_CODE = (FileChange(path="tool.c", role="watched", diff=DEFINED),)


def listed(base: Told, head: Told, changes: tuple[FileChange, ...], gone: Part = GONE) -> list[str]:
    trials = [trial("base", base), trial("head", head)]
    interfaces = (Interface(tool="tool", gone=(gone,)),)
    return [says(cause) for cause in find_causes([row("regressed")], trials, changes, interfaces)]


@pytest.mark.parametrize("head", [("error", "bad call\nsee --help"), ("ok", "other")])
def test_an_option_that_helps_interface_lacks_is_the_cause_whatever_the_tool_says(head: tuple[CallStatus, str]) -> None:
    said = listed(("tool --tables x", "ok", "x"), ("tool --tables x", *head), OF_CODE)
    assert said == ["`tool` no longer accepts `--tables`; `--pipe-tables` is new"]


def test_an_option_that_only_the_help_hides_is_no_cause_of_another_output() -> None:
    hidden = (FileChange(path="tool.c", role="watched", diff='@@ -3 +2,0 @@\n-"  --tables  Enable tables"\n'),)
    said = listed(("tool --tables x", "ok", "x"), ("tool --tables x", "ok", "y"), hidden)
    assert said == ["`tool --tables x` prints `y` instead of `x`"]
    assert listed(("tool x", "ok", "x"), ("tool x", "ok", "y"), OF_CODE) == ["`tool x` prints `y` instead of `x`"]


def test_a_help_text_that_lacks_an_option_says_no_more_than_the_code_shows() -> None:
    trials = [of_help("base", ""), of_help("head", "the output lacks `--tables`")]
    told = {
        OF_CODE: "`tool` no longer accepts `--tables`; `--pipe-tables` is new",
        (): "the check `the help` no longer finds `--tables`",
    }
    for changes, expected in told.items():
        assert [says(cause) for cause in find_causes([row("regressed")], trials, changes, LISTED)] == [expected]


def test_a_parameter_that_is_gone_from_the_list_of_tools_is_the_cause_of_an_error() -> None:
    gone = Part(kind="parameter", command="read", name="fileName")
    call = """srv read '{"fileName": "x"}'"""
    said = listed((call, "ok", "x"), (call, "error", "failed"), (), gone)
    assert said == ["`srv read` no longer accepts `fileName`"]


@pytest.mark.parametrize(
    ("gone", "says"),
    [
        (Part(kind="parameter", command="read", name="fileName"), "`srv read` no longer accepts `fileName`"),
        (Part(kind="tool", name="read"), "the MCP server `srv` no longer has the tool `read`"),
    ],
)
def test_what_a_server_lacks_is_the_cause_although_the_agent_shows_no_message(gone: Part, says: str) -> None:
    call = """srv read '{"fileName": "x"}'"""
    assert listed((call, "ok", ""), (call, "error", ""), (), gone) == [says]


@pytest.mark.parametrize(
    ("call", "message", "says"),
    [
        ("tool -B x", "/x/tool: invalid option -- 'B'\nUsage: tool [-a]", "`tool` no longer accepts `-B`"),
        ("tool --full x", "Illegal option: --full\nUse --help for more.", "`tool` no longer accepts `--full`"),
        (
            "tool --full x",
            "cannot do --full here\nUse --help for more.",
            "`tool --full x` now exits with status 2 (was 0): `cannot do --full here`",
        ),
    ],
)
def test_the_line_that_names_the_option_is_quoted(call: str, message: str, says: str) -> None:
    assert after(message, call) == [says]


def test_a_cause_is_the_same_whatever_folder_a_trial_had() -> None:
    messages = [
        f"/tmp/tidegate-run-{name}/{name * 2}/src/tool: line 3: x: unbound variable"
        for name in ("0a1b2c3d", "9f8e7d6c")
    ]
    base, rows = [trial("base", (ADD, "ok", ""))], [row("regressed"), row("regressed", agent="b")]
    heads = [trial("head", (ADD, "error", message)) for message in messages]
    trials = [*base, heads[0], *(one.model_copy(update={"agent": "b"}) for one in (*base, heads[1]))]
    (cause,) = find_causes(rows, trials)
    assert "`src/tool: line 3: x: unbound variable`" in says(cause)
