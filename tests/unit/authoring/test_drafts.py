"""Gates for what a mutant changes."""

from __future__ import annotations

import re
from typing import Any

from tidegate.authoring.drafts import differing_gates
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
    """Other calls may add more lines before the gate asks."""
    gate, _ = of_call(call("a tide\nan ebb since 2026-11-23\n"), call("an ebb since 2026-11-23\n"))
    assert gate == {"type": "command_output_contains", "command": "t list", "substring": "a tide"}


def test_output_is_checked_but_for_its_dates_whatever_changes_in_it() -> None:
    for changed in ("an ebb since 2026-11-23\n", "a tide\nan ebb\na tide\n", "an ebb\na tide\n", ""):
        *_, gate = of_call(call("a tide\nan ebb since 2026-11-23\n"), call(changed))
        made = CommandOutputMatches.model_validate(gate)
        assert re.search(made.pattern, "a tide\nan ebb since 2026-11-23\n")
        assert not re.search(made.pattern, changed)


def test_a_message_of_a_call_that_fails_is_checked() -> None:
    gate, _ = of_call(call(code=2, err="what is that?\n"), call(code=2))
    assert (gate["command"], gate["status"], gate["substring"]) == ("t list 2>&1", 2, "what is that?")


def test_exit_codes_are_checked() -> None:
    gates = of_call(call(code=2), call(code=0))
    assert {"type": "command_exits", "command": "t list", "status": 2} in gates
    assert of_call(call(), call(code=1)) == [
        {"type": "command_exits", "command": "t list", "status": 0},
        {"type": "no_transcript_errors"},
    ]


def test_a_key_of_json_that_only_base_prints_is_checked_by_its_path() -> None:
    gates = of_call(call('{"all": [{"my id": 1}]}'), call('{"all": [{"other": 1}]}'))
    assert gates[0]["path"] == '$.all[0]["my id"]'


def test_nothing_is_checked_by_a_call_that_writes() -> None:
    writes = call("a tide\n").model_copy(update={"written": ("notes",)})
    assert of_call(writes, call()) == []


def test_files_that_only_base_leaves_come_first() -> None:
    (gate,) = differing_gates("t", [[], [], []], [diff("n.md", "tide"), diff("n.md", "tide"), ""])
    assert (gate["type"], gate["path"], re.search(gate["pattern"], "tide\n") is not None) == (
        "file_matches",
        "n.md",
        True,
    )
