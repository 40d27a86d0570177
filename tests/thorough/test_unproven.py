"""Pull requests that keep a row from being compared: never a pass, and red where head can have caused it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from tests.journeys.conftest import FILES, SCENARIO

Make = Callable[..., Any]
UNCHECKED = SCENARIO.replace(", health_check: notes --version", "")
BROKEN_BUILD = {"build.sh": "echo the mirror is down >&2; exit 3\n"}


@pytest.mark.parametrize(
    ("base", "head", "ended"),
    [
        ({}, {"bin/notes": FILES["bin/notes"].replace("--version)", "--about)")}, (1, "regressed")),
        ({"scenarios/keep.yaml": UNCHECKED}, {"bin/notes": None, "bin/note": FILES["bin/notes"]}, (1, "regressed")),
        ({"scenarios/keep.yaml": UNCHECKED.replace("notes}", "notse}")}, {"README.md": "x"}, (4, "not_measured")),
        ({"AGENTS.md": "Nothing to run here."}, {"README.md": "x"}, (5, "ok")),
    ],
    ids=["the health check fails", "the tool is gone", "the tool is on neither side", "nothing calls the tool"],
)
def test_a_tool_that_does_not_run_is_no_pass(pull_request: Make, base: Any, head: Any, ended: tuple[int, str]) -> None:
    ran = pull_request({**FILES, **base}, head)

    assert (ran.code, ran.row("keep_notes")["state"]) == ended, ran.stderr


@pytest.mark.attempt("breaks the tool while base cannot be built", "unproven", 5)
def test_a_broken_head_is_not_green_because_base_cannot_be_built(pull_request: Make) -> None:
    suite = FILES["tidegate.yaml"] + "build: [sh build.sh]\n"

    ran = pull_request(
        {**FILES, "tidegate.yaml": suite, **BROKEN_BUILD},
        {"build.sh": "true\n", "bin/notes": FILES["bin/notes"].replace("  add)", "  append)")},
    )

    assert ran.code == 5, ran.stderr
    verdict = ran.result["verdict"]
    assert (verdict["state"], verdict["reason"]) == ("inconclusive", "unproven")
    assert ran.row("keep_notes")["state"] == "not_comparable"
    assert "the mirror is down" in str(ran.result["trials"])


@pytest.mark.attempt("repairs the build of a broken base", "inconclusive: nothing to compare with", 0)
def test_a_pull_request_that_repairs_base_s_build_is_green_and_no_pass(pull_request: Make) -> None:
    suite = FILES["tidegate.yaml"] + "build: [sh build.sh]\n"

    ran = pull_request({**FILES, "tidegate.yaml": suite, **BROKEN_BUILD}, {"build.sh": "true\n"})

    assert ran.code == 0, ran.stderr
    assert (ran.result["verdict"]["state"], ran.result["verdict"]["reason"]) == ("inconclusive", "nothing_compared")


@pytest.mark.attempt("repairs a tool that fails its health check", "passed", 0)
def test_a_pull_request_that_repairs_a_tool_that_fails_its_health_check_is_green(pull_request: Make) -> None:
    other = FILES["scenarios/keep.yaml"].replace("keep_notes", "other").replace("notes --version", "test 1")
    dead = FILES["bin/notes"].replace("--version)", "--nothing)")

    ran = pull_request({**FILES, "scenarios/other.yaml": other, "bin/notes": dead}, {"bin/notes": FILES["bin/notes"]})

    assert ran.code == 0, ran.stderr
    assert ran.result["verdict"]["state"] == "passed"


@pytest.mark.attempt("hangs in every scenario", "regression")
def test_a_suite_in_which_everything_hangs_is_caught_by_its_first_rows(pull_request: Make) -> None:
    """`notes add` and `notes list` hang on head, and so every scenario does."""
    suite = FILES["tidegate.yaml"].replace("doc-follower}", "doc-follower, timeout_secs: 3}")
    rows = {f"scenarios/{n}.yaml": SCENARIO.replace("keep_notes", f"row{n}") for n in range(6)}
    base = {name: text for name, text in FILES.items() if name != "scenarios/keep.yaml"}
    hangs = FILES["bin/notes"].replace("  add)", "  add|list) sleep 600 ;;\n  was-add)")

    ran = pull_request({**base, **rows, "tidegate.yaml": suite}, {"bin/notes": hangs}, "--jobs", "2")

    assert ran.code == 1, ran.stderr
    assert ran.row("row0")["state"] == "regressed"
    assert ran.result["cost"]["trials"]["head"] < 6 * 3, "once a failure is confirmed, the other rows run once"
    gates = [gate["message"] for trial in ran.result["trials"] if trial["side"] == "head" for gate in trial["gates"]]
    stopped = [message for message in gates if message.startswith("timed out")]
    assert stopped
    assert "timed out after 30 s" not in stopped, "after the agent has hung, gates have less time"
    assert "not_measured" not in {row["state"] for row in ran.result["rows"]}


def test_a_run_of_which_a_trial_could_not_be_measured_does_not_exit_with_0(
    make_repository: Make, tidegate: Make
) -> None:
    other = FILES["scenarios/keep.yaml"].replace("keep_notes", "other").replace("notes --version", "test 1 = 2")
    repo = make_repository()
    repo.commit({**FILES, "scenarios/other.yaml": other})

    ran = tidegate("run", cwd=repo.root)

    assert ran.code == 4, ran.stderr
