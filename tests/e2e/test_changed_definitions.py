"""A pull request cannot pass by editing its scenarios."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

Make = Callable[..., Any]


@pytest.fixture
def changed(make_repository: Make, tidegate: Make, files: dict[str, str]) -> Callable[..., Any]:
    """A pull request against the notes, of the given files."""

    def run(pr: dict[str, str | None], base: dict[str, str] | None = None) -> Any:
        repo = make_repository()
        repo.commit({**files, **(base or {})})
        repo.branch("pr", pr)
        return tidegate("pr", "--base", "main", "--head", "pr", "--pause", "0", cwd=repo.root)

    return run


def without_gate(files: dict[str, str]) -> str:
    scenario = files["scenarios/keep.yaml"]
    lines = [line for line in scenario.splitlines(keepends=True) if "pattern: second" not in line]
    assert len(lines) == len(scenario.splitlines()) - 1
    return "".join(lines)


def test_deleting_the_gate_that_fails_is_not_green(changed: Make, files: dict[str, str]) -> None:
    forgetful = files["bin/notes"].replace('[ -n "$1" ] ||', '[ "$1" = second ] && exit 0; [ -n "$1" ] ||')
    ran = changed({"bin/notes": forgetful, "scenarios/keep.yaml": without_gate(files)})

    assert ran.code == 1, ran.comment
    row = ran.row("keep_notes")
    assert (row["state"], row["base"]["passes"], row["head"]["passes"]) == ("regressed", 2, 0)
    assert row["evidence"]["gate"] == "command_output_matches: notes list must print a match of second"
    first, second = ran.result["definitions"]
    told = "passes only because the scenario was changed: 3 of 3 trials on head; with base's checks, command_output"
    assert first["detail"].startswith(told)
    assert (second["kind"], second["weakened"]) == ("gate_removed", True)
    head = [trial for trial in ran.result["trials"] if trial["side"] == "head"]
    assert {(trial["outcome"], trial["decides"]) for trial in head} == {("pass", "fail")}
    assert head[0]["reason"].startswith("passes only because the scenario was changed; before, command_output")
    assert "passes only because the scenario was changed" in ran.comment


def test_a_gate_made_easier_is_asked_as_it_was(changed: Make, files: dict[str, str]) -> None:
    easier = files["scenarios/keep.yaml"].replace("pattern: second", "pattern: s")
    forgetful = files["bin/notes"].replace('[ -n "$1" ] ||', '[ "$1" = second ] && exit 0; [ -n "$1" ] ||')
    ran = changed({"bin/notes": forgetful, "scenarios/keep.yaml": easier})

    assert (ran.code, ran.result["verdict"]["reason"]) == (1, "regression")
    assert ran.row("keep_notes")["head"]["passes"] == 0


def test_a_weakened_scenario_that_still_does_what_was_asked_fails_by_the_definition_alone(
    changed: Make, files: dict[str, str]
) -> None:
    ran = changed({"scenarios/keep.yaml": without_gate(files)})

    assert (ran.code, ran.result["verdict"]["reason"]) == (1, "weakened_check")
    assert ran.row("keep_notes")["state"] == "ok"
    assert [change["kind"] for change in ran.result["definitions"]] == ["gate_removed"]


def test_a_stricter_gate_is_no_weakening(changed: Make, files: dict[str, str]) -> None:
    stricter = files["scenarios/keep.yaml"] + "    - {type: file_exists, path: notes.txt}\n"
    ran = changed({"scenarios/keep.yaml": stricter})

    assert ran.code == 0, ran.comment
    assert [change["weakened"] for change in ran.result["definitions"]] == [False]


def test_the_policy_is_base_s_whatever_the_pull_request_says(changed: Make, files: dict[str, str]) -> None:
    advisory = files["tidegate.yaml"] + "policy: {mode: advisory, block: [], weakened_checks: warn}\n"
    ran = changed({"bin/notes": files["bin/notes"].replace("  add)", "  append)"), "tidegate.yaml": advisory})

    assert ran.code == 1, ran.comment
    assert ran.result["verdict"]["mode"] == "blocking"
    (change,) = ran.result["definitions"]
    assert change["kind"] == "policy_changed"
    assert "policy.mode: blocking → advisory" in change["detail"]
    assert "takes effect after the merge" in change["detail"]
