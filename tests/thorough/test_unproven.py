"""Pull requests that keep a row from being compared: never a pass, and red where head can have caused it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

Make = Callable[..., Any]
BROKEN_BUILD = {"build.sh": "echo the mirror is down >&2; exit 3\n"}


def broken(files: dict[str, str]) -> dict[str, str]:
    return {"bin/notes": files["bin/notes"].replace("  add)", "  append)")}


@pytest.fixture
def compared(make_repository: Make, tidegate: Make) -> Callable[..., Any]:
    """`tidegate pr` on a repository with these files, and what the pull request changes in them."""

    def compare(base: dict[str, str], head: dict[str, str], *more: str) -> Any:
        repo = make_repository()
        repo.commit(base)
        repo.branch("pr", head)
        return tidegate("pr", "--base", "main", "--head", "pr", "--pause", "0", *more, cwd=repo.root)

    return compare


@pytest.mark.attempt("breaks the tool while base cannot be built", "unproven", 5)
def test_a_broken_head_is_not_green_because_base_cannot_be_built(compared: Make, files: dict[str, str]) -> None:
    suite = files["tidegate.yaml"] + "build: [sh build.sh]\n"

    ran = compared({**files, "tidegate.yaml": suite, **BROKEN_BUILD}, {"build.sh": "true\n", **broken(files)})

    assert ran.code == 5, ran.stderr
    verdict = ran.result["verdict"]
    assert (verdict["state"], verdict["reason"]) == ("inconclusive", "unproven")
    assert ran.row("keep_notes")["state"] == "not_comparable"
    assert "the mirror is down" in str(ran.result["trials"])


@pytest.mark.attempt("repairs the build of a broken base", "inconclusive: nothing to compare with", 0)
def test_a_pull_request_that_repairs_base_s_build_is_green_and_no_pass(compared: Make, files: dict[str, str]) -> None:
    suite = files["tidegate.yaml"] + "build: [sh build.sh]\n"

    ran = compared({**files, "tidegate.yaml": suite, **BROKEN_BUILD}, {"build.sh": "true\n"})

    assert ran.code == 0, ran.stderr
    assert (ran.result["verdict"]["state"], ran.result["verdict"]["reason"]) == ("inconclusive", "nothing_compared")


@pytest.mark.attempt("repairs a tool that fails its health check", "passed", 0)
def test_a_pull_request_that_repairs_a_tool_that_fails_its_health_check_is_green(
    compared: Make, files: dict[str, str]
) -> None:
    other = files["scenarios/keep.yaml"].replace("keep_notes", "other").replace("notes --version", "test 1")
    dead = files["bin/notes"].replace("--version)", "--nothing)")

    ran = compared({**files, "scenarios/other.yaml": other, "bin/notes": dead}, {"bin/notes": files["bin/notes"]})

    assert ran.code == 0, ran.stderr
    assert ran.result["verdict"]["state"] == "passed"


def test_a_row_that_cannot_be_set_up_on_either_side_is_not_passed_over(compared: Make, files: dict[str, str]) -> None:
    other = files["scenarios/keep.yaml"].replace("keep_notes", "other").replace("notes --version", "test 1 = 2")

    ran = compared({**files, "scenarios/other.yaml": other}, {"README.md": "more"})

    assert ran.code == 5, ran.stderr
    assert ran.result["verdict"]["reasons"][0].startswith("other: no trial was measured on base or head")


@pytest.mark.parametrize(("dead", "code"), [(2, 5), (1, 0)])
def test_a_suite_of_which_two_thirds_pass_on_neither_side_proves_nothing(
    dead: int, code: int, compared: Make, files: dict[str, str]
) -> None:
    scenario = files["scenarios/keep.yaml"]
    rows = {
        f"scenarios/{n}.yaml": scenario.replace("keep_notes", f"row{n}").replace(
            "substring: first", "substring: never" if n < dead else "substring: first"
        )
        for n in range(3)
    }
    base = {name: text for name, text in files.items() if name != "scenarios/keep.yaml"}

    ran = compared({**base, **rows}, {"README.md": "more"})

    assert ran.code == code, ran.stderr
    if code:
        assert ran.result["verdict"]["reason"] == "nothing_passes"
        assert "2 of 3 scenarios pass on neither side" in ran.comment


def test_checks_that_cannot_fail_are_said_in_the_comment_s_first_lines(compared: Make, files: dict[str, str]) -> None:
    scenario = files["scenarios/keep.yaml"].replace("substring: first}", "substring: first, required: false}")
    scenario = scenario.replace("pattern: second}", "pattern: second, required: false}")

    ran = compared({**files, "scenarios/keep.yaml": scenario}, {"README.md": "more"})

    assert "no scenario has a required check, so none can fail" in "\n".join(ran.comment.splitlines()[:3])


def hanging(files: dict[str, str], count: int, more: str = "") -> dict[str, str]:
    """A suite of so many scenarios; with `notes add` and `notes list` hanging on head, every one of them hangs."""
    scenario = files["scenarios/keep.yaml"]
    rows = {f"scenarios/{n}.yaml": scenario.replace("keep_notes", f"row{n}") for n in range(count)}
    base = {name: text for name, text in files.items() if name != "scenarios/keep.yaml"}
    return {**base, **rows, "tidegate.yaml": files["tidegate.yaml"] + more}


def hangs(files: dict[str, str]) -> dict[str, str]:
    return {"bin/notes": files["bin/notes"].replace("  add)", "  add|list) sleep 600 ;;\n  was-add)")}


@pytest.mark.attempt("hangs in every scenario", "regression")
def test_a_suite_in_which_everything_hangs_is_caught_by_its_first_rows(compared: Make, files: dict[str, str]) -> None:
    suite = files["tidegate.yaml"].replace("doc-follower}", "doc-follower, timeout_secs: 3}")
    limited = {**files, "tidegate.yaml": suite}

    ran = compared(hanging(limited, 6), hangs(files), "--jobs", "2")

    assert ran.code == 1, ran.stderr
    assert ran.row("row0")["state"] == "regressed"
    assert ran.result["cost"]["trials"]["head"] <= 10  # two rows three times each, and then the others once
    gates = [gate["message"] for trial in ran.result["trials"] if trial["side"] == "head" for gate in trial["gates"]]
    stopped = [message for message in gates if message.startswith("timed out")]
    assert stopped
    assert "timed out after 30 s" not in stopped, "after the agent has hung, gates have less time"
    assert "not_measured" not in {row["state"] for row in ran.result["rows"]}


def test_a_budget_that_ends_before_the_failures_are_confirmed_is_red_and_names_them(
    compared: Make, files: dict[str, str]
) -> None:
    ran = compared(hanging(files, 16, "budget: {minutes: 0.1}\n"), hangs(files), "--jobs", "2")

    assert ran.code in (1, 5), ran.stderr
    assert ran.result["verdict"]["state"] in ("failed", "inconclusive")
    assert "row0" in ran.comment


def test_a_run_of_which_a_trial_could_not_be_measured_does_not_exit_with_0(
    make_repository: Make, tidegate: Make, files: dict[str, str]
) -> None:
    other = files["scenarios/keep.yaml"].replace("keep_notes", "other").replace("notes --version", "test 1 = 2")
    repo = make_repository()
    repo.commit({**files, "scenarios/other.yaml": other})

    ran = tidegate("run", cwd=repo.root)

    assert ran.code == 4, ran.stderr
