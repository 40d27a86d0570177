"""`tidegate pr` in a repository that is not ours: real git, real processes, a tool written in shell."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tests.journeys.conftest import FILES, VERSION

Make = Callable[..., Any]


# Nine calls of the target; a shell's own status hides every failure among them.
def test_a_renamed_command_is_a_regression_with_its_evidence(pull_request: Make) -> None:
    ran = pull_request(FILES, {"bin/notes": FILES["bin/notes"].replace("  add)", "  append)")})

    assert ran.code == 1, ran.stderr
    row = ran.row("keep_notes")
    assert (row["state"], row["kind"]) == ("regressed", "outcome")
    assert (row["base"]["passes"], row["base"]["trials"]) == (2, 2)
    assert (row["head"]["passes"], row["head"]["trials"]) == (0, 3)
    assert row["evidence"]["calls"][0] == {
        "command": "notes add first",
        "exit_code": 2,
        "message": "notes: unknown command: add",
    }
    assert "notes: unknown command: add" in ran.comment
    assert "exit 2" in ran.comment


def test_a_build_that_breaks_on_head_is_a_regression_and_one_that_is_broken_on_both_sides_is_not_run(
    pull_request: Make,
) -> None:
    built = FILES | {"tidegate.yaml": FILES["tidegate.yaml"] + "build: [sh build.sh]\n", "build.sh": "true"}

    ran = pull_request(built, {"build.sh": "echo cannot compile x.c >&2; echo bye >&2; exit 3"})
    row = ran.row("keep_notes")
    assert (ran.code, row["state"], row["kind"]) == (1, "regressed", "setup"), ran.stderr
    assert ran.result["verdict"]["reason"] == "setup_regression"
    assert "cannot compile" in ran.comment

    ran = pull_request(built | {"build.sh": "exit 3"}, {"README.md": "x"}, name="broken")
    assert (ran.code, ran.row("keep_notes")["state"]) == (4, "not_measured"), ran.stderr


def test_a_removed_scenario_is_judged_until_the_merge_and_a_new_one_besides(pull_request: Make) -> None:
    other = FILES["scenarios/keep.yaml"].replace("keep_notes", "other")
    new = VERSION.replace("version", "new", 1)

    ran = pull_request(
        {**FILES, "scenarios/other.yaml": other}, {"scenarios/other.yaml": None, "scenarios/new.yaml": new}
    )

    assert {row["scenario"]: row["state"] for row in ran.result["rows"]} == {
        "keep_notes": "ok",
        "new": "added",
        "other": "ok",
    }
    assert (ran.code, [change["effect"] for change in ran.result["definitions"]]) == (0, ["less", "more"])


def test_a_renamed_scenario_is_told_as_such(pull_request: Make) -> None:
    own = FILES["scenarios/keep.yaml"]
    ran = pull_request(FILES, {"scenarios/keep.yaml": own.replace("keep_notes", "kept_notes")})
    assert {row["scenario"]: row["state"] for row in ran.result["rows"]} == {"keep_notes": "ok", "kept_notes": "added"}
    assert [change["detail"] for change in ran.result["definitions"]] == ["renamed to kept_notes"]


def test_the_pull_request_that_brings_the_suite_is_judged_in_advisory_mode(pull_request: Make) -> None:
    ran = pull_request(
        {"bin/notes": FILES["bin/notes"], "AGENTS.md": FILES["AGENTS.md"]}, {**FILES, "AGENTS.md": "nothing to run"}
    )

    verdict = ran.result["verdict"]
    assert (ran.code, verdict["state"], verdict["mode"], verdict["would_block"]) == (0, "failed", "advisory", True)
    assert "failed (advisory: the target branch has no usable suite yet)" in ran.comment


def test_no_secret_of_ours_reaches_the_agent_the_gates_or_the_build(pull_request: Make) -> None:
    build = """build: ['env > build.env', 'test "$WANTED" = yes', '! grep HUSH build.env']\n"""
    suite = FILES["tidegate.yaml"] + build + "pass_env: [WANTED]\n"
    scenario = (
        FILES["scenarios/keep.yaml"] + "    - {type: command_output_contains, command: env, substring: WANTED=yes}\n"
    )
    tool = FILES["bin/notes"].replace("  add)", "  add) env > tool.env;")
    gate = '    - {type: script, command: "! cat tool.env | grep -q HUSH", description: no secret}\n'
    env_gate = '    - {type: script, command: "! env | grep -q HUSH", description: no secret}\n'
    secrets = {"GITHUB_TOKEN": "HUSH", "ANTHROPIC_API_KEY": "HUSH", "ACTIONS_RUNTIME_TOKEN": "HUSH", "WANTED": "yes"}

    ran = pull_request(
        {**FILES, "tidegate.yaml": suite, "scenarios/keep.yaml": scenario + gate + env_gate, "bin/notes": tool},
        {"README.md": "x"},
        env=secrets,
    )

    assert ran.code == 0, ran.stderr
    assert ran.row("keep_notes")["head"]["passes"] == 1


def test_a_pull_request_cannot_name_a_secret_that_base_does_not_pass_on(pull_request: Make) -> None:
    scenario = FILES["scenarios/keep.yaml"].replace("--version}", '--version, env: {X: "${HUSH}"}}')

    ran = pull_request(
        FILES,
        {"tidegate.yaml": FILES["tidegate.yaml"] + "pass_env: [HUSH]\n", "scenarios/keep.yaml": scenario},
        env={"HUSH": "secret-value"},
    )

    assert ran.code == 2
    assert "HUSH" in ran.stderr
    assert "secret-value" not in ran.stdout + ran.stderr
