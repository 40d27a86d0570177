"""`tidegate check` and `tidegate schema`, as a person runs them."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Callable
from pathlib import Path

import jsonschema
import pytest

from tests.warm import run_tidegate

SUITE = "version: 1\nscenarios: [scenarios/*.yaml]\n"
SCENARIO = (
    "name: first\ndescription: The first.\ntarget: {binary: taskmgr}\ntask: List the tasks.\n"
    "gates: [{type: no_transcript_errors}, {type: file_exists, path: x}]\n"
)
Run = Callable[..., "subprocess.CompletedProcess[str]"]


@pytest.fixture
def tidegate(tmp_path: Path) -> Run:
    """Runs the program in a folder that holds the small suite."""
    (tmp_path / "scenarios").mkdir()
    (tmp_path / "tidegate.yaml").write_text(SUITE)
    (tmp_path / "scenarios/first.yaml").write_text(SCENARIO)

    def run(*arguments: str, cwd: Path = tmp_path) -> subprocess.CompletedProcess[str]:
        return run_tidegate(*arguments, cwd=cwd)

    return run


def test_a_valid_suite_is_told_as_what_would_be_run(tidegate: Run, tmp_path: Path) -> None:
    (tmp_path / "scenarios/second.yaml").write_text(SCENARIO.replace("first", "second thing"))

    done = tidegate("check")

    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == (
        "tidegate.yaml is valid.\n"
        "2 scenarios × 1 agent = 2 rows, each on base and head: 4 trials if all is well (deterministic)\n"
        "\n"
        "  first         docs  2 gates  scenarios/first.yaml\n"
        "  second thing  docs  2 gates  scenarios/second.yaml\n"
        "\n"
        "advice:\n"
        "  only 2 regression cases; with fewer than 20, small regressions may be missed\n"
    )


def test_chance_rows_take_the_presets_trials_on_both_sides(tidegate: Run, tmp_path: Path) -> None:
    agents = "agents: {docs: {type: doc-follower}, mine: {type: command, command: x}}\n"
    (tmp_path / "tidegate.yaml").write_text(f"{SUITE}{agents}policy: {{preset: thorough}}\n")
    (tmp_path / "scenarios/second.yaml").write_text(
        SCENARIO.replace("first", "second") + "tool_matrix: [{tool: docs}]\n"
    )

    done = tidegate("check")

    assert (
        "2 scenarios × 2 agents → 3 rows, each on base and head: 14 trials if all is well (2 of 3 rows" in done.stdout
    )


def test_every_mistake_goes_to_stderr_with_exit_code_2(tidegate: Run, tmp_path: Path) -> None:
    (tmp_path / "scenarios/first.yaml").write_text(SCENARIO + "tsak: x\n")
    (tmp_path / "tidegate.yaml").write_text(SUITE + "network: {agent: nope}\n")

    done = tidegate("check")

    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == (
        "tidegate: tidegate.yaml:3:18: network.agent: must be true or false or a list\n"
        "scenarios/first.yaml:6:1: tsak: unknown key (did you mean `task`?)\n"
        "Fix the errors above.\n"
    )


def test_an_empty_suite_is_nothing_to_run(tidegate: Run, tmp_path: Path) -> None:
    (tmp_path / "tidegate.yaml").write_text("version: 1\nscenarios: []\n")

    assert tidegate("check").returncode == 3


def test_another_folder_and_another_file(tidegate: Run, tmp_path: Path) -> None:
    (tmp_path / "tidegate.yaml").rename(tmp_path / "nightly.yaml")
    (tmp_path / "elsewhere").mkdir()

    done = tidegate("check", "--repo", "..", "--config", "nightly.yaml", cwd=tmp_path / "elsewhere")

    assert done.stdout.startswith("nightly.yaml is valid.\n"), done.stderr


def test_from_a_folder_below_the_top_of_the_repository(tidegate: Run, tmp_path: Path) -> None:
    subprocess.run(["git", "init", "--quiet"], cwd=tmp_path, check=True)

    assert tidegate("check", cwd=tmp_path / "scenarios").returncode == 0


@pytest.mark.parametrize("kind", ["suite", "scenario", "result"])
def test_schema_prints_json_schema(tidegate: Run, kind: str) -> None:
    done = tidegate("schema", kind)

    assert done.returncode == 0, done.stderr
    jsonschema.Draft202012Validator.check_schema(json.loads(done.stdout))


def test_schema_of_something_else_is_a_usage_error(tidegate: Run) -> None:
    done = tidegate("schema", "nothing")

    assert done.returncode == 2
    assert "invalid choice" in done.stderr


def test_steps_for_a_scenario_that_is_not_there(tidegate: Run, tmp_path: Path) -> None:
    (tmp_path / "tidegate.yaml").write_text(SUITE + "agents: {me: {type: scripted, steps: {frist: [ls]}}}\n")

    done = tidegate("check")

    assert "3:39: agents.me.steps.frist: the suite has no scenario `frist` (did you mean `first`?)" in done.stderr


def test_a_glob_of_watch_that_matches_nothing_is_told_where_git_knows_the_files(tidegate: Run, tmp_path: Path) -> None:
    (tmp_path / "tidegate.yaml").write_text(SUITE + 'watch: ["!docs/**", "scenarios/**"]\n')
    assert "`watch`" not in tidegate("check").stdout

    for command in ("init -q", "add ."):
        subprocess.run(["git", *command.split()], cwd=tmp_path, check=True)
    told = tidegate("check").stdout
    assert "tidegate.yaml: `watch` has !docs/**, which matches no committed file" in told
    assert "scenarios/**, which" not in told


def test_a_folder_that_is_no_repository_is_said_to_be_none(tidegate: Run, tmp_path: Path) -> None:
    nowhere = tidegate("check", "--repo", str(tmp_path / "nope"))
    assert (nowhere.returncode, "there is no folder" in nowhere.stderr) == (2, True)

    (tmp_path / "empty").mkdir()
    outside = tidegate("check", cwd=tmp_path / "empty")
    assert (outside.returncode, "is not in a git repository" in outside.stderr) == (2, True)


def test_what_an_agent_lacks_on_this_machine_is_one_line(
    tidegate: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("ANTHROPIC_API_KEY", raising=False)
    monkeypatch.setenv("PATH", "/usr/bin:/bin")
    agents = "agents: {c: {type: codex, model: m}, docs: {type: doc-follower}}\n"
    (tmp_path / "tidegate.yaml").write_text("version: 1\nscenarios: [scenarios/*.yaml]\n" + agents)
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    monkeypatch.delenv("CODEX_API_KEY", raising=False)

    done = tidegate("check")

    (line,) = [line for line in done.stdout.splitlines() if "on this machine" in line]
    assert done.returncode == 0
    assert line.startswith("  agent c cannot run on this machine without the program `codex` and a key in ")


JUDGED = """\
judge:
  - {type: anthropic, model: a, provider: {type: anthropic, key: OWN_KEY}}
  - {type: openai, model: o}
  - {type: google, model: g}
  - {type: scripted, model: s, script: [{answers: [no]}]}
"""


def test_a_judge_without_a_key_is_one_line_unless_no_scenario_is_judged(
    tidegate: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "o")
    monkeypatch.delenv("OWN_KEY", raising=False)
    monkeypatch.delenv("GEMINI_API_KEY", raising=False)
    suite = tmp_path / "tidegate.yaml"
    suite.write_text(suite.read_text() + JUDGED)

    def lines() -> list[str]:
        return [line.strip() for line in tidegate("check").stdout.splitlines() if "on this machine" in line]

    assert lines() == []
    evaluation = "evaluation: {judge: {rubric: builtin:guidance}}\n"
    (tmp_path / "scenarios/second.yaml").write_text(SCENARIO.replace("first", "second") + evaluation)
    assert lines() == [
        "judge a cannot be asked on this machine without a key in OWN_KEY",
        "judge g cannot be asked on this machine without a key in GEMINI_API_KEY",
    ]


def test_a_dry_run_says_what_would_run(tidegate: Run, tmp_path: Path) -> None:
    subprocess.run(["git", "init", "--quiet"], cwd=tmp_path, check=True)
    (tmp_path / "scenarios/second.yaml").write_text(SCENARIO.replace("first", "second"))
    done = tidegate("run", "--scenario", "s*", "--trials", "3", "--dry-run")
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines()[0] == "3 trials would run, of 1 row:"
    assert "first" not in done.stdout
    assert not (tmp_path / ".tidegate/runs").exists()


def test_variables_of_pass_env_may_be_in_a_file_beside_the_suite(tidegate: Run, tmp_path: Path) -> None:
    """As AgentV reads `.env`; in CI it is not read, since a pull request could bring it."""
    (tmp_path / "tidegate.yaml").write_text(SUITE + "pass_env: [MODE]\n")
    (tmp_path / "scenarios/first.yaml").write_text(SCENARIO.replace("taskmgr}", "taskmgr, env: {A: '${MODE}'}}"))
    assert "${MODE} is not set" in tidegate("check").stderr
    (tmp_path / ".env").write_text("# mine\nOTHER=1\nexport MODE='x'\n")
    done = run_tidegate("check", cwd=tmp_path, env={key: value for key, value in os.environ.items() if key != "CI"})
    assert done.returncode == 0, done.stderr
    assert "${MODE} is not set" in run_tidegate("check", cwd=tmp_path, env={**os.environ, "CI": "true"}).stderr
