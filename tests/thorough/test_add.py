"""`tidegate add` turns a trial, or the transcript of a failure, into a scenario that runs."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.journeys.conftest import FILES

Make = Callable[..., Any]
WITH_TEMPLATE = FILES | {
    "scenarios/keep/notes.txt": "zero\n",
    "scenarios/keep/inbox/a.md": "something\n",
}
FAILING = WITH_TEMPLATE | {"AGENTS.md": "# Notes\n\n```console\n$ notes add first\n$ notes append second\n```\n"}
TRIAL = ".tidegate/run/trials/keep_notes/docs/1"


def stored(make_repository: Make, tidegate: Make, files: dict[str, str]) -> Any:
    repo = make_repository()
    repo.commit(files)
    ran = tidegate("run", "--out", ".tidegate/run", cwd=repo.root)
    assert ran.code in (0, 1), ran.stderr
    return repo


def written(root: Path, name: str) -> dict[str, Any]:
    loaded: dict[str, Any] = yaml.safe_load((root / name).read_text())
    return loaded


def test_a_failed_trial_becomes_a_scenario_with_its_gates(make_repository: Make, tidegate: Make) -> None:
    repo = stored(make_repository, tidegate, FAILING)

    done = tidegate("add", TRIAL, cwd=repo.root)

    assert (done.code, done.stderr) == (0, "")
    assert done.stdout.splitlines()[:2] == [
        "wrote scenarios/keep_notes_again.yaml",
        "wrote scenarios/keep_notes_again/, the workspace at the start",
    ]
    scenario = written(repo.root, "scenarios/keep_notes_again.yaml")
    assert scenario["name"] == "keep_notes_again"
    assert scenario["task"] == "Add two notes as AGENTS.md says."
    assert scenario["target"] == {"binary": "notes", "health_check": "notes --version"}
    assert scenario["source"].startswith("trial head/keep_notes/docs/1 of ")
    assert "command_output_matches: notes list" in scenario["source"]
    assert scenario["evaluation"]["gates"] == [
        {"type": "file_contains", "path": "notes.txt", "substring": "first"},
        {"type": "command_output_matches", "command": "notes list", "pattern": "second"},
    ]
    text = (repo.root / "scenarios/keep_notes_again.yaml").read_text()
    assert "    # - {type: file_contains, path: notes.txt, substring: first}" in text
    assert "# it called: notes append second (error)" in text
    assert (repo.root / "scenarios/keep_notes_again/notes.txt").read_text() == "zero\n"
    assert (repo.root / "scenarios/keep_notes_again/inbox/a.md").is_file()

    assert tidegate("check", cwd=repo.root).code == 0
    again = tidegate("run", "--scenario", "keep_notes_again", "--json", cwd=repo.root)
    assert [trial["outcome"] for trial in json.loads(again.stdout)["trials"]] == ["fail"]


def test_a_trial_that_passed_proposes_gates_from_what_it_changed(make_repository: Make, tidegate: Make) -> None:
    files = WITH_TEMPLATE | {
        "scenarios/keep.yaml": FILES["scenarios/keep.yaml"].partition("evaluation:")[0],
    }
    repo = stored(make_repository, tidegate, files)

    assert tidegate("add", TRIAL, "--name", "both notes", cwd=repo.root).code == 0

    scenario = written(repo.root, "scenarios/both_notes.yaml")
    assert scenario["name"] == "both notes"
    assert scenario["evaluation"]["gates"] == [{"type": "file_contains", "path": "notes.txt", "substring": "first"}]
    again = tidegate("run", "--scenario", "both notes", "--json", cwd=repo.root)
    assert [trial["outcome"] for trial in json.loads(again.stdout)["trials"]] == ["pass"], again.stderr


SCORED = (
    FILES["scenarios/keep.yaml"]
    .partition("evaluation:")[0]
    .replace("health_check", "env: {NOTES_MODE: x}, health_check")
    + """\
scripts:
  post: [{command: "wc -l < notes.txt > count.txt", timeout_secs: 9}]
  evaluators: [{command: "echo '{}'", name: aside}]
evaluation:
  evaluators:
    - {type: expected_state, command: 'echo "{\\"notes\\": $(cat count.txt)}"', expected: {notes: 2}}
  judge: {enabled: true, rubric: "builtin:guidance", pass_threshold: 0.5}
  composite: {gate_weight: 1}
tags: [smoke]
"""
)


def test_everything_that_decided_is_kept_and_several_trials_are_taken(make_repository: Make, tidegate: Make) -> None:
    suite = FILES["tidegate.yaml"].replace("[scenarios/*.yaml]", "[scenarios/keep.yaml]")
    files = {"scenarios/keep.yaml": SCORED, "tidegate.yaml": suite, "AGENTS.md": "# Notes\n\n    $ notes add first\n"}
    repo = make_repository()
    repo.commit(FILES | files)
    tidegate("run", "--out", ".tidegate/run", "--trials", "2", cwd=repo.root)

    done = tidegate("add", TRIAL, TRIAL.removesuffix("1") + "2", cwd=repo.root)

    assert (done.code, done.stderr) == (0, "")
    assert done.stdout.count("note: proven: it fails on this trial: evaluator expected_state") == 2
    ours = written(repo.root, "scenarios/keep_notes_again.yaml")
    theirs: dict[str, Any] = yaml.safe_load(SCORED)
    assert {key: ours[key] for key in theirs if key not in ("name", "description", "task")} == {
        key: value for key, value in theirs.items() if key not in ("name", "description", "task")
    }
    assert written(repo.root, "tidegate.yaml")["scenarios"] == [
        "scenarios/keep.yaml",
        "scenarios/keep_notes_again.yaml",
        "scenarios/keep_notes_again_2.yaml",
    ]
    again = tidegate("run", "--scenario", "keep_notes_again", "--json", cwd=repo.root)
    assert {trial["outcome"] for trial in json.loads(again.stdout)["trials"]} == {"fail"}, again.stderr


def test_a_case_of_agentv_stays_one(make_repository: Make, tidegate: Make) -> None:
    case = """\
dataset: sea
evalcases:
  - id: tides
    expected_outcome: The answer names the moon.
    input_messages: [{role: user, content: "What makes tides?"}]
    evaluators: [{name: moon, type: code_judge, script: python3 -m json.tool > /dev/null && exit 1}]
"""
    suite = "version: 1\nscenarios:\n  - evals/sea.yaml\n"
    target = "targets: [{name: default, provider: mock, response: I do not know.}]\n"
    repo = make_repository()
    repo.commit({"tidegate.yaml": suite, "evals/sea.yaml": case, ".agentv/targets.yaml": target})
    tidegate("run", "--out", ".tidegate/run", cwd=repo.root)

    done = tidegate("add", ".tidegate/run/trials/sea%2Ftides/default/1", cwd=repo.root)

    assert (done.code, done.stderr) == (0, "")
    assert "note: proven: it fails on this trial: evaluator moon" in done.stdout or "case score" in done.stdout
    (added,) = written(repo.root, "evals/sea_tides_again.yaml")["evalcases"]
    before = yaml.safe_load(case)["evalcases"][0]
    assert added == before | {"id": "tides_again", "note": added["note"]}
    assert added["note"].startswith("trial head/sea%2Ftides/default/1 of ")
    assert (repo.root / "tidegate.yaml").read_text() == suite + "  - evals/sea_tides_again.yaml\n"
    again = tidegate("run", "--scenario", "sea/tides_again", "--json", cwd=repo.root)
    assert {trial["outcome"] for trial in json.loads(again.stdout)["trials"]} == {"fail"}, again.stderr


def test_nothing_is_overwritten(make_repository: Make, tidegate: Make) -> None:
    repo = stored(make_repository, tidegate, FAILING)
    for number in ("", "_2", "_3"):
        assert f"wrote scenarios/keep_notes_again{number}.yaml" in tidegate("add", TRIAL, cwd=repo.root).stdout
    assert tidegate("check", cwd=repo.root).code == 0


def test_a_workspace_that_has_changed_since_is_said(make_repository: Make, tidegate: Make) -> None:
    repo = stored(make_repository, tidegate, FAILING)
    repo.write({"scenarios/keep/notes.txt": "something else\n"})
    assert "note: the scenario's workspace has changed since" in tidegate("add", TRIAL, cwd=repo.root).stdout


CLAUDE = [
    {"type": "system", "subtype": "init", "session_id": "1", "model": "m", "tools": ["Bash"]},
    {
        "type": "assistant",
        "message": {
            "id": "1",
            "role": "assistant",
            "content": [{"type": "tool_use", "id": "t1", "name": "Bash", "input": {"command": "notes append x"}}],
        },
    },
    {
        "type": "user",
        "message": {
            "role": "user",
            "content": [{"type": "tool_result", "tool_use_id": "t1", "content": "Exit code 2", "is_error": True}],
        },
    },
]


def test_a_transcript_of_a_real_failure(make_repository: Make, tidegate: Make) -> None:
    repo = make_repository()
    repo.commit(FILES | {"incident/data.csv": "1,2\n"})
    (repo.root / "incident.jsonl").write_text("".join(json.dumps(line) + "\n" for line in CLAUDE))

    silent = tidegate("add", "incident.jsonl", cwd=repo.root)
    assert (silent.code, "Pass it with `--prompt TEXT`" in silent.stderr) == (2, True)
    done = tidegate("add", "incident.jsonl", "--prompt", "Keep x:\n  now", "--workspace", "incident", cwd=repo.root)

    assert done.code == 0, done.stderr
    scenario = written(repo.root, "scenarios/incident.yaml")
    assert scenario["task"]["prompt"] == "Keep x:\n  now"
    assert scenario["source"] == "transcript incident.jsonl"
    assert scenario["evaluation"]["gates"] == [{"type": "no_transcript_errors"}]
    assert "# it called: notes append x" in (repo.root / "scenarios/incident.yaml").read_text()
    assert (repo.root / "scenarios/incident/data.csv").read_text() == "1,2\n"
    assert tidegate("check", cwd=repo.root).code == 0


@pytest.mark.parametrize(
    ("source", "said"),
    [
        ("nothing", "neither the folder of a stored trial nor a transcript"),
        ("README.md", "is not a known transcript"),
        (".tidegate", "neither the folder"),
        ("damaged", "damaged/result.json is damaged"),
    ],
)
def test_bad_ends(make_repository: Make, tidegate: Make, source: str, said: str) -> None:
    repo = make_repository()
    repo.commit(FILES | {"README.md": "# Notes\n", ".tidegate/x": "", "damaged/result.json": "{}"})
    done = tidegate("add", source, cwd=repo.root)
    assert (done.code, said in done.stderr) == (2, True), done.stderr
