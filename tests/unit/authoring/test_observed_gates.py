"""Which gates are proposed from what commands printed and changed in three trials."""

from __future__ import annotations

import hashlib
import re
import time

import pytest

from tests.make import sure
from tidegate.authoring.observed_gates import (
    EMPTY,
    Seen,
    complaint,
    counts_in,
    digest_gate,
    distinct,
    file_gates,
    help_gates,
    lasting,
    listed,
    refused_gate,
    result_gate,
    whole,
)
from tidegate.model.event import CommandResult

HELP = """\
Usage: tally [OPTIONS] COMMAND

Options:
  -q, --quiet      Print less, see also --silent-mode
  --format TEXT    json or text

Commands:
  add [TITLE]   Adds a thing
  list          Lists all
"""
NOW = time.time()


def ran(stdout: str = "", code: int = 0, stderr: str = "", command: str = "tally list") -> CommandResult:
    return CommandResult(command=command, end="exited", exit_code=code, stdout=stdout, stderr=stderr)


def seen(*results: CommandResult) -> list[Seen]:
    return [Seen(one, NOW) for one in results]


def test_options_and_subcommands_that_the_help_lists_are_one_check_and_names_in_a_sentence_another() -> None:
    """A help that no longer lists an option may still name it in a sentence."""
    rows, others = help_gates(ran(HELP, command="tally --help"))
    assert {gate["type"] for gate in (rows, others)} == {"command_output_words"}
    assert (rows["command"], rows["words"]) == ("tally --help", ["-q", "--quiet", "--format", "add", "list"])
    assert (rows["listed"], others["words"], "listed" in others) == (True, ["--silent-mode"], False)


def test_names_after_the_second_of_a_line_need_not_be_listed() -> None:
    """Another name may come between them, such as `--faint (or --dim)`."""
    rows, others = help_gates(ran("Attributes:\n  --bold, --faint, --normal\n  --blue\n", command="tally --help"))
    assert (rows["words"], others["words"]) == (["--bold", "--faint", "--blue"], ["--normal"])


def test_of_a_usage_that_bundles_options_nothing_is_checked_but_the_status() -> None:
    """Another option is no regression."""
    text = "Tally 1.2\nby Ada, Bea and Grace\n\nUsage: tally [ -abc ] [ -d folder ]\n" + "a line of text\n" * 9
    assert "Usage" not in str([*help_gates(ran(text))])
    assert sure(result_gate(seen(*[ran("a line\n" * 9 + text)] * 3)))["type"] == "command_succeeds"


def test_options_with_long_names_after_one_dash_are_listed() -> None:
    assert listed("available options:\n\n-skip N\n    N=entries to skip\n-resume\n") == ["-skip", "-resume"]


def test_the_error_is_found_before_and_after_a_usage() -> None:
    usage = "usage: tally [-h]\n             [--sort KEY] FILE\n"
    for printed in (f"{usage}tally: error: no FILE\n", f"tally: error: no FILE\n{usage}"):
        gate = sure(refused_gate(seen(*[ran("", 2, printed)] * 3)))
        assert gate["pattern"] == "tally: error: no FILE"


def test_all_of_an_output_about_the_version_that_has_digits_may_differ() -> None:
    gate = sure(result_gate(seen(*[ran("tally 0.1.dev1+g90a83e2c1\n", command="tally --version")] * 3)))
    assert re.search(gate["pattern"], "tally 0.2\n")


def test_another_version_is_no_regression_but_another_form_of_it_is() -> None:
    gate = sure(result_gate(seen(*[ran("1.6.11\n", command="tally --version")] * 3)))
    assert re.search(gate["pattern"], "1.7.0-rc2\n")
    assert not re.search(gate["pattern"], "tally v1.6.11\n")


def test_a_help_on_stderr_that_exits_with_1_is_checked_there() -> None:
    rows, _ = help_gates(ran("", 1, HELP, command="tally -h"))
    assert (rows["command"], rows["status"]) == ("tally -h 2>&1 >/dev/null", 1)


@pytest.mark.parametrize(
    "output",
    [
        "668333 B\n",
        "a\n\nb: 1.5\n",
        "2020-05-17 was a Sunday\n",
        "x.csv:10:12: E501\n",
        "a (b) [c] *\\d\n",
        "\x1b[1mred\x1b[0m\n",
    ],
)
def test_what_is_the_same_each_time_is_a_result_whatever_it_looks_like(output: str) -> None:
    gate = sure(result_gate(seen(*[ran(output)] * 3)))
    assert gate["type"] == "command_output_matches"
    assert re.search(gate["pattern"], output)
    for wrong in (output.replace("3", "4").replace("b", "B"), output + "more\n", ""):
        assert wrong == output or not re.search(gate["pattern"], wrong)


@pytest.mark.parametrize(
    ("output", "other"),
    [
        (f"count: 3 at {time.strftime('%Y-%m-%d', time.gmtime(NOW))}\n", "count: 3 at 2031-01-01\n"),
        (
            f"count: 3 on {time.strftime('%A, %b %d', time.gmtime(NOW - 6 * 86_400))} (week 48)\n",
            "count: 3 on Monday, Jan 01 (week 1)\n",
        ),
        ("count: 3 in /tmp/x1\n", "count: 3 in /tmp/x2\n"),
        ("count: 3, tally 1.2.3\n", "count: 3, tally 1.3.0\n"),  # the tool's own version, which `--version` printed
        ("count: 3 by Python 3.11.2\n", "count: 3 by Python 3.12.0\n"),
        ("count: 3, 2 days ago\n", "count: 3, 5 days ago\n"),
        ("count: 3 on machine-one\n", "count: 3 on machine-two\n"),
    ],
)
def test_what_depends_on_time_folder_version_or_machine_is_not_checked(output: str, other: str) -> None:
    gate = sure(result_gate(seen(*[ran(output)] * 3), facts=["machine-one", "1.2.3"]))
    assert re.search(gate["pattern"], other)
    assert not re.search(gate["pattern"], other.replace("3", "4", 1))


def test_a_version_that_is_not_the_tools_own_is_a_result() -> None:
    gate = sure(result_gate(seen(*[ran("0.2.0\n")] * 3), facts=["3.1.0"]))
    assert not re.search(gate["pattern"], "0.3.0\n")


@pytest.mark.parametrize(
    ("one", "other"), [("300 a second", "280 a second"), ("12 files/s", "9 files/s"), ("0.1", "2.5")]
)
def test_lines_that_differ_between_runs_may_differ_later_and_so_may_rates_beside_them(one: str, other: str) -> None:
    gate = sure(result_gate(seen(*(ran(f"id {number}\n3 files\n{one}\n") for number in (7, 8, 9)))))
    assert re.search(gate["pattern"], f"id 12\n3 files\n{other}\n")
    assert not re.search(gate["pattern"], f"id 12\n4 files\n{other}\n")


def test_a_refusal_without_a_word_stays_one() -> None:
    gate = sure(refused_gate(seen(*[ran(code=1)] * 3)))
    assert (gate["command"], gate["status"], gate["pattern"]) == ("tally list 2>&1", 1, EMPTY)


def test_a_version_that_is_printed_with_another_status_has_a_form() -> None:
    version = ran("v3.0.0\n", code=1, command="tally --version")
    gate = sure(refused_gate(seen(version, version, version)))
    assert gate["status"] == 1
    assert re.search(gate["pattern"], "v4.1.2\n")
    assert not re.search(gate["pattern"], "3.0.0\n")


def test_a_date_of_the_input_is_a_result() -> None:
    gate = sure(result_gate(seen(*[ran("release 1.2.3\n", command="tally next 1.2.2")] * 3), "1.2.3"))
    assert "1\\.2\\.3" in gate["pattern"]


def test_of_a_long_output_the_beginning_and_the_end_are_checked() -> None:
    output = "".join(f"row {number}\n" for number in range(200))
    gate = sure(result_gate(seen(*[ran(output)] * 3)))
    assert re.search(gate["pattern"], output.replace("row 50", "row x"))
    assert not re.search(gate["pattern"], output.replace("row 199", "row x"))


def test_of_a_long_line_the_beginning_is_checked() -> None:
    output = f"const a = {'1 + ' * 50_000}2\n"
    gate = sure(result_gate(seen(*[ran(output)] * 3)))
    assert len(gate["pattern"]) < 1_000
    assert re.search(gate["pattern"], output)
    assert not re.search(gate["pattern"], output.replace("const", "let"))


def test_gates_that_are_too_many_for_a_scenario_are_left_out() -> None:
    gates = [{"type": "file_contains", "path": "a", "substring": f"{number} {'x' * 5_000}"} for number in range(200)]
    kept = distinct(gates)
    assert kept == gates[: len(kept)]
    assert 400_000 < len(repr(kept)) < 600_000


def test_of_a_long_output_the_digest_is_checked_unless_a_part_of_it_may_differ() -> None:
    output = "".join(f"row {number}\n" for number in range(200))
    gate = sure(digest_gate(seen(*[ran(output)] * 3)))
    assert re.search(gate["pattern"], f"{hashlib.sha256(output.encode()).hexdigest()}  -\n")
    assert digest_gate(seen(*[ran("row 1\n")] * 3)) is None
    assert digest_gate(seen(ran(output), ran(output.replace("50", "51")))) is None
    assert digest_gate(seen(*[ran(output + f"{time.strftime('%Y-%m-%d')}\n")] * 3)) is None


@pytest.mark.parametrize(
    "printed",
    [
        "a.py:3:1: error: unused import\n",
        "RESULT: FAILED (minimum: 80.0%, actual: 50.0%)\n",
        "a.md\n  heading is missing\n\n2 problems\n",
        "1 failed, 3 passed\n",
        "a.feature\n  7    Trailing spaces are not allowed\n",
    ],
)
def test_a_linter_that_exits_with_1_shows_a_result(printed: str) -> None:
    gate = sure(result_gate(seen(*[ran(printed, 1)] * 3)))
    assert (gate["type"], gate["status"]) == ("command_output_matches", 1)


@pytest.mark.parametrize(
    "result",
    [
        *(
            ran("Cannot open editor\n"),
            ran("", stderr="waiting for input\n"),
            ran("", 1),
            ran("\x1b[24;1Hnotes.txt 3L\n"),
            ran("x\n", 1, "no such file\n"),
            ran("", stderr="tally: line 42: read error: 0: Is a directory\n"),
            ran("a.txt  [error opening dir]\n\n0 directories, 1 file\n"),
            ran("samples/  [error opening dir]\n\n0 directories, 0 files\n", 2),
        ),
        ran("Hello,\n" * 5 + "count: line 807: cd: demo: No such file or directory\n"),
        *(ran("ok\n", 127), ran(stderr="Traceback (most recent call last):\n  x\n", code=1)),
        CommandResult(command="x", end="timeout"),
    ],
)
def test_what_reports_that_something_did_not_work_is_no_check(result: CommandResult) -> None:
    assert complaint(result)
    assert result_gate(seen(*[result] * 3)) is None


def test_a_long_output_about_an_error_is_a_result() -> None:
    assert complaint(ran("".join(f"row {number}\n" for number in range(5)) + "page not found\n")) is None


def test_a_refused_input_is_refused_with_the_same_code_and_error_on_the_same_stream() -> None:
    gate = sure(refused_gate(seen(*[ran("", 2, "tally: unknown --nope (choose from --all)\n", "tally --nope")] * 3)))
    assert (gate["command"], gate["status"]) == ("tally --nope 2>&1 >/dev/null", 2)
    assert re.search(gate["pattern"], "tally: unknown --nope (choose from --all, --some)")
    assert not re.search(gate["pattern"], "tally: unknown\n")
    assert refused_gate(seen(*[ran("fine\n")] * 3)) is None
    assert sure(refused_gate(seen(*[ran("ERROR: cannot read nope\n")] * 3)))["status"] == 0
    assert refused_gate(seen(ran("", 2), ran("", 1), ran("", 2))) is None


@pytest.mark.parametrize(
    ("command", "fails"),
    [
        ("tally no-such-a.txt", "! (tally no-such-a.txt)"),
        ("tally half-a.txt", "! (tally half-a.txt)"),
        ("tally a", None),
    ],
)
def test_a_crash_for_what_is_not_there_is_a_failure_and_any_other_one_may_be_mended(
    command: str, fails: str | None
) -> None:
    gate = refused_gate(seen(*[ran("", 1, "Traceback (most recent call last):\n", command)] * 3))
    assert (gate or {}).get("command") == fails


def test_the_error_before_a_trace_is_checked_with_the_rows_about_its_place() -> None:
    told = "Parse error at half-a.js:1,8\nvar a = = 2\n        ^\nERROR: operator\n"
    trace = "    at js_error (eval at <anonymous>, <anonymous>:3135:11)\n    at main (/srv/tally.js:12:5)\n"
    pattern = sure(refused_gate(seen(*[ran("", 1, told + trace, "tally half-a.js")] * 3)))["pattern"]
    assert re.search(pattern, told)
    assert not re.search(pattern, told.replace("var a = = 2", "var b = 3"))
    thrown = "/srv/tally.js:330\n    throw err;\n    ^\n\n"
    pattern = sure(refused_gate(seen(*[ran("", 1, f"{thrown}Error: no a\n{trace}", "tally half-a.js")] * 3)))["pattern"]
    assert re.search(pattern, f"{thrown.replace('330', '331')}Error: no a\n")
    assert not re.search(pattern, f"{thrown}Error: no b\n")
    of_bug = refused_gate(seen(*[ran("", 1, f"{thrown}TypeError: a is null\n{trace}", "tally half-a.js")] * 3))
    assert sure(of_bug)["command"] == "! (tally half-a.js)"


def test_only_files_that_all_trials_wrote_alike_are_checked() -> None:
    def diff(text: str) -> str:
        head = "diff --git a/all.txt b/all.txt\nnew file mode 100644\n--- /dev/null\n+++ b/all.txt"
        return f"{head}\n@@ -0,0 +1 @@\n+{text}\n"

    (gate,) = file_gates([diff("first"), diff("first")])
    assert (gate["type"], gate["path"], bool(re.search(gate["pattern"], "first\n"))) == (
        "file_matches",
        "all.txt",
        True,
    )
    assert [*file_gates([diff("first"), ""])] == []
    (gate,) = file_gates([diff("Usage: tally [ -abc ]")] * 2)  # another option is no regression
    assert gate == {"type": "file_exists", "path": "all.txt"}


def test_no_gate_repeats_another() -> None:
    gate = {"type": "command_succeeds", "command": "tally", "description": "one"}
    assert distinct([gate, gate | {"description": "two"}]) == [gate | {"description": "two"}]


def test_an_error_that_names_a_file_is_checked_without_its_folder() -> None:
    errors = [ran(code=1, stderr=f"ERROR: /tmp/run-{number}/a.py is not sorted.\n") for number in (1, 2, 3)]
    gate = sure(refused_gate(seen(*errors)))
    assert re.search(gate["pattern"], "ERROR: /home/x/a.py is not sorted.")
    assert not re.search(gate["pattern"], "ERROR: /home/x/a.py is wrong.")


def test_a_row_of_a_million_digits_is_read_in_time() -> None:
    """The time that a pattern takes for such a row grew with its square: minutes, in which nothing could stop it."""
    ran = CommandResult(command="bc", end="exited", exit_code=1, stdout=f"{'7' * 1_000_000}\nerror: too large\n")
    assert complaint(ran) == "exit 1, error: too large"


def test_rows_in_another_order_are_not_checked_and_those_around_them_are() -> None:
    pattern = whole(["two files\na\nb\nc\nin all: 2", "two files\nc\nb\na\nin all: 2"])
    assert pattern == r"\Atwo files\n.*\n.*\n.*\nin all: 2\Z"
    assert whole(["size 1\nb\nc", "size 2\nb\nc"]) == r"\A.*\nb\nc\Z"


def test_where_a_shell_sees_an_error_in_the_tool_is_not_checked() -> None:
    tool, data = "/tmp/x/bin/tally: 201: .: no such file", "/tmp/x/sample.py: 3: bad"
    accepts = re.compile(lasting([f"{tool}\n{data}\n"])).search
    assert accepts(f"{tool.replace('201', '205')}\n{data}\n")
    assert not accepts(f"{tool}\n{data.replace(' 3:', ' 4:')}\n")


def test_several_large_statuses_count_something_and_one_does_not() -> None:
    assert counts_in([0, 1, 31, 64, None]) == {31, 64}
    assert counts_in([0, 1, 2, 127]) == set()


@pytest.mark.parametrize(
    "told", ["odd escape at {} line {}, <FILE> line 1.", "{}:{}: DeprecationWarning: old", 'File "{}", line {}, in run']
)
def test_the_line_of_the_tool_s_own_source_that_a_warning_names_may_be_any(told: str) -> None:
    texts = [told.format(f"/tmp/tidegate-run-{at}/ab12/tally", 4180) for at in ("x1", "y2")]
    pattern = lasting(texts)
    assert re.search(pattern, told.format("/tmp/tidegate-run-z3/cd34/tally", 4177))
    assert not re.search(pattern, "none")


def test_a_line_of_the_tool_s_source_in_an_error_may_be_any_but_not_one_of_its_input() -> None:
    told = "[ERROR] (tally.c:97: errno: none) cannot open x\nsample.py:3: unused"
    accepts = re.compile(lasting([told], given="sample.py")).search
    assert accepts(told.replace("97", "104"))
    assert not accepts(told.replace(":3:", ":4:"))


def test_of_a_crash_the_exception_is_told_whatever_comes_after_it() -> None:
    printed = "node:internal\n  throw err;\n\nError: Cannot find module './lib/cli'\n    at a (b:1)\n\nNode.js v20\n"
    told = complaint(CommandResult(command="tally", end="exited", exit_code=1, stderr=printed))
    assert told == "exit 1, Error: Cannot find module './lib/cli'"
