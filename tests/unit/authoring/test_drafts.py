"""Gates for what a mutant changes."""

from __future__ import annotations

from typing import Any

import pytest

from tidegate.authoring.drafts import differing_gates
from tidegate.authoring.observed_gates import new_text
from tidegate.checks.gates.text_gates import CommandOutputMatches
from tidegate.model.surface import ObservedCall


def diff(path: str, *lines: str) -> str:
    """Return the diff of a workspace with one new file."""
    body = "".join(f"+{line}\n" for line in lines)
    return f"diff --git a/{path} b/{path}\nnew file mode 100644\n--- /dev/null\n+++ b/{path}\n@@ -0,0 +1 @@\n{body}"


def of_call(before: ObservedCall, after: ObservedCall) -> list[dict[str, Any]]:
    """Return the gates for a call of `t`, without their descriptions."""
    gates = differing_gates("t", [[before], [before], [after]], ["", "", ""])
    return [{key: own for key, own in gate.items() if key != "description"} for gate in gates]


def call(out: str = "", code: int = 0, err: str = "") -> ObservedCall:
    return ObservedCall(argv=("list",), exit_code=code, stdout=out, stderr=err)


def test_a_line_that_only_base_prints_is_checked() -> None:
    (gate,) = of_call(call("a tide\nan ebb since 2026-11-23\n"), call("an ebb since 2026-11-23\n"))
    assert gate == {"type": "command_output_contains", "command": "t list", "substring": "a tide"}


def test_a_message_of_a_call_that_fails_is_checked() -> None:
    (gate,) = of_call(call(code=2, err="what is that?\n"), call(code=2))
    assert gate["command"] == "{ t list 2>&1; true; }"
    assert gate["substring"] == "what is that?"


def test_output_that_gets_more_lines_or_another_order_is_checked_as_a_whole() -> None:
    for changed in ("a tide\nan ebb\na tide\nan ebb\n", "an ebb\na tide\n"):
        (gate,) = of_call(call("a tide\nan ebb\n"), call(changed))
        made = CommandOutputMatches.model_validate(gate)
        assert made.pattern == r"\A\s*a tide\nan ebb\s*\Z"


def test_exit_codes_are_checked() -> None:
    gates = of_call(call(code=2), call(code=0))
    assert {"type": "command_succeeds", "command": "t list; test $? -eq 2"} in gates
    assert of_call(call(), call(code=1)) == [
        {"type": "command_succeeds", "command": "t list"},
        {"type": "no_transcript_errors"},
    ]


def test_a_key_of_json_that_only_base_prints_is_checked_by_its_path() -> None:
    gates = of_call(call('{"all": [{"my id": 1}]}'), call('{"all": [{"other": 1}]}'))
    assert gates[0]["path"] == '$.all[0]["my id"]'


def test_nothing_is_checked_by_a_call_that_writes() -> None:
    writes = call("a tide\n").model_copy(update={"written": ("notes",)})
    assert of_call(writes, call()) == []


def test_files_that_only_base_leaves_come_first() -> None:
    gates = [*differing_gates("t", [[], [], []], [diff("n.md", "tide"), diff("n.md", "tide"), ""])]
    assert gates[:2] == [
        {"type": "file_exists", "path": "n.md"},
        {"type": "file_contains", "path": "n.md", "substring": "tide"},
    ]


@pytest.mark.parametrize(
    ("ours", "again", "text"),
    [
        ("x-1a [closed] - tide\n", "x-9z [closed] - tide\n", "[closed] - tide"),
        ("kept since 2026-11-22 by the team\n", "kept since 2026-11-22 by the team\n", "by the team"),
    ],
)
def test_of_a_line_with_an_id_or_a_date_the_part_that_lasts_is_checked(ours: str, again: str, text: str) -> None:
    assert new_text(ours, again, "", []) == text
