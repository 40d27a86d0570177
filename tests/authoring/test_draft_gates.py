"""Gates for what a draft's call leaves."""

from __future__ import annotations

import json

from tidegate.authoring.draft_gates import file_gate, key_gate, new_text, output_gate, read_gate
from tidegate.gates.command_json_path import CommandJsonPath
from tidegate.model.command import CommandResult


def diff(path: str, *lines: str) -> str:
    """Return the diff of a workspace with one new file."""
    body = "".join(f"+{line}\n" for line in lines)
    return f"diff --git a/{path} b/{path}\nnew file mode 100644\n--- /dev/null\n+++ b/{path}\n@@ -0,0 +1 @@\n{body}"


def test_only_what_is_not_there_without_the_call_is_checked() -> None:
    gate = read_gate(["t list"], [["a\nb tide\n"], ["a\nb tide\n"], ["a\n"]], [])
    assert gate is not None
    assert gate["substring"] == "b tide"
    assert read_gate(["t list"], [["a\n"], ["a\n"], ["a\n"]], []) is None


def test_of_a_line_with_an_id_or_a_date_the_part_that_lasts_is_checked() -> None:
    assert new_text("x-1a [closed] - tide\n", "x-9z [closed] - tide\n", "", []) == "[closed] - tide"
    assert (
        new_text("kept since 2026-11-22 by the team\n", "kept since 2026-11-22 by the team\n", "", []) == "by the team"
    )


def test_a_line_with_a_value_of_the_call_comes_first() -> None:
    text = "a line that is much longer\nthe tide\n"
    assert new_text(text, text, "", ["tide"]) == "the tide"


def test_a_file_with_another_name_each_time_is_searched_for_in_its_folder() -> None:
    first, again = diff("notes/x1.md", "status: closed"), diff("notes/y2.md", "status: closed")
    gate = file_gate([first, again, diff("notes/z3.md", "status: open")], [])
    assert gate is not None
    assert gate["command"] == "grep -rqF -e 'status: closed' notes"
    assert file_gate([first, again, diff("notes/z3.md", "status: closed")], []) is None
    gate = file_gate([diff("n.md", "tide"), diff("n.md", "tide"), ""], [])
    assert gate == {"type": "file_contains", "path": "n.md", "substring": "tide"}


def test_output_that_only_lacks_something_is_checked_as_a_whole() -> None:
    gate = output_gate("o.txt", ("b tide\n", "b tide\n", "a low\nb tide\n"), [])
    assert gate is not None
    assert (gate["type"], gate["pattern"]) == ("file_matches", r"\Ab tide\s*\Z")
    assert output_gate("o.txt", ("b tide\n", "b tide\n", "b tide\n"), []) is None


def test_a_key_of_json_output_is_checked_where_its_value_is_not_empty() -> None:
    """Each gate holds for the output that it comes from, and not for one in which the key has another name."""
    tasks = {"id": "", "tasks": [{"at": "2026-11-23"}, {"id": 7, "my tags": ["a"]}], "none": [], "null": None}
    expected = {
        "id": ("$.tasks[1].id", "equals 7"),
        "at": ("$.tasks[0].at", "exists"),
        "my tags": ('$.tasks[1]["my tags"]', "exists"),
        "none": ("$.none", "len == 0"),
        "null": ("$.null", "equals null"),
    }
    for key, (path, assertion) in expected.items():
        output = json.dumps(tasks)
        (gate,) = key_gate("t list", output, key)
        assert (gate["command"], gate["path"], gate["assertion"]) == ("t list", path, assertion)
        made = CommandJsonPath.model_validate(gate)
        for printed, holds in ((output, True), (output.replace(f'"{key}":', '"other":'), False)):
            result = CommandResult(command="t list", end="exited", exit_code=0, stdout=printed)
            assert made.decide_output(result).passed is holds, (key, printed)


def test_a_key_that_no_json_path_reaches_is_not_checked() -> None:
    for output in ('{"title": "tide"}', '{"id": 1}\n{"id": 2}', "id: 1"):
        assert [*key_gate("t list", output, "id")] == [], output
